import { nearestName } from '@baton/kernel';
import { ConfigError, type ConfigSchema, loadConfig } from '@baton/service-runtime';
import { configSchema as workerSchema } from '@baton/worker';
import { standaloneConfig } from './config';
import { services } from './services';

const PREFIX = 'BATON_';
/** Variables of the command line (apps/cli), which may be set in the same terminal. */
const OF_OTHERS = ['URL', 'USERNAME', 'PASSWORD', 'TOKEN', 'TENANT', 'PROFILES', 'SERVICE'];

/**
 * Checks the variables of all parts that the standalone will start, before it starts anything: values that a service would refuse,
 * and misspelt names. `given`: the environment as the user set it; `env`: the one that the services get.
 * @throws ConfigError naming each problem.
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

/** Names are compared without their common prefix, which would make all of them similar. */
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
