import { nearestName } from '@baton/kernel';
import { ConfigError, type ConfigSchema, loadConfig } from '@baton/service-runtime';
import { configSchema as workerSchema } from '@baton/worker';
import { standaloneConfig } from './config';
import { services } from './services';

const PREFIX = 'BATON_';
/** Of the command line (apps/cli), which a person may have set in the same terminal. */
const OF_OTHERS = ['URL', 'USERNAME', 'PASSWORD', 'TOKEN', 'TENANT', 'PROFILES', 'SERVICE'];

/**
 * Looks at the variables of all that the standalone will start, before it starts anything: a value that a service would
 * refuse, and a name that is one of theirs but for a letter or two. `given`: as a person set it;
 * `env`: as the services get it.
 * @throws ConfigError naming each.
 */
export function checkVariables(given: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv): void {
  const schemas: ConfigSchema[] = [...services.map((service) => service.configSchema), workerSchema];
  const problems = new Set(misspelt(given, [standaloneConfig, ...schemas]));
  for (const schema of schemas) {
    try {
      loadConfig(schema, env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const problem of error.problems) problems.add(problem);
    }
  }
  if (problems.size > 0) throw new ConfigError([...problems]);
}

/** Compared without their common beginning, which would make everything look alike. */
function misspelt(env: NodeJS.ProcessEnv, schemas: readonly ConfigSchema[]): string[] {
  const known = new Set([
    ...schemas.flatMap((schema) => Object.keys(schema.shape)),
    ...OF_OTHERS.map((name) => `${PREFIX}${name}`),
  ]);
  const free = [...known].filter((name) => name.startsWith(PREFIX) && env[name] === undefined);
  const endings = free.map((name) => name.slice(PREFIX.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] !== '' && !known.has(name))
    .flatMap((name) => {
      const nearest = nearestName(name.slice(PREFIX.length), endings);
      return nearest ? [`${name} is no variable of Baton (is it a misspelling of ${PREFIX}${nearest}?)`] : [];
    });
}
