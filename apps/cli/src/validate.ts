import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Diagnostic, type ImportResolver, parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import { diagnosticText } from './failure';
import type { Printer } from './output';

interface Checked {
  file: string;
  isValid: boolean;
  diagnostics: readonly Diagnostic[];
}

/**
 * Checks blueprints offline. A folder stands for its blueprint.yaml, or for every YAML file below it that declares a
 * definitions version. @returns 0 when all are valid, 1 when one is not, 2 when there was nothing to check.
 */
export async function validatePaths(paths: readonly string[], out: Printer): Promise<number> {
  const files = paths.flatMap(blueprintsAt);
  const results: Checked[] = [];
  for (const file of files) results.push(await validateFile(file));
  if (out.isJson) out.record({ results });
  else for (const result of results) out.say(reportOf(result));
  if (results.length === 0) {
    out.say('there is no blueprint to check');
    return 2;
  }
  const invalid = results.filter((result) => !result.isValid).length;
  out.say(`${results.length - invalid} valid, ${invalid} invalid`);
  return invalid === 0 ? 0 : 1;
}

function blueprintsAt(path: string): string[] {
  const full = resolve(path);
  const stat = statSync(full, { throwIfNoEntry: false });
  if (!stat) throw new Error(`${path}: there is no such file or folder`);
  if (stat.isFile()) return [full];
  const main = join(full, 'blueprint.yaml');
  if (existsSync(main)) return [main];
  return readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/i.test(name) && !name.includes('node_modules'))
    .map((name) => join(full, name))
    .filter((file) => /^tosca_definitions_version:/m.test(readFileSync(file, 'utf8')))
    .sort();
}

async function validateFile(file: string): Promise<Checked> {
  const { plan, diagnostics } = await parseBlueprint({
    text: readFileSync(file, 'utf8'),
    location: pathToFileURL(file).href,
    resourcesBasePath: resolve(file, '..'),
    resolver: withBuiltinTypes(fileResolver()),
  });
  return { file: relative(process.cwd(), file), isValid: plan !== null, diagnostics };
}

/** Files of this machine only: nothing is fetched, plugins and other blueprints live on the manager. */
function fileResolver(): ImportResolver {
  return {
    read: async (url) => {
      if (!url.startsWith('file:')) return null;
      const path = fileURLToPath(url.startsWith('file://') ? url : pathToFileURL(url.slice('file:'.length)));
      return existsSync(path) && statSync(path).isFile() ? readFileSync(path, 'utf8') : null;
    },
    exists: async (path) => existsSync(path),
  };
}

function reportOf({ file, isValid, diagnostics }: Checked): string {
  return [
    `${file}: ${isValid ? 'valid' : 'invalid'}`,
    ...diagnostics.map((d) => `  ${diagnosticText(d)}`),
  ].join('\n');
}
