import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Diagnostic, type ImportResolver, parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import { exitCodes } from './exit-codes';
import { CommandFailure, diagnosticText } from './failure';
import type { Printer } from './output';
import { type PluginReader, readPluginFolder } from './plugin-folder';

interface Checked {
  file: string;
  isValid: boolean;
  diagnostics: readonly Diagnostic[];
}

/**
 * Checks blueprints offline. For a folder it checks its blueprint.yaml, or every YAML file below it that declares a definitions
 * version.
 * @param plugins folder of plugins that they import; undefined: such imports are errors
 * @returns the exit code: done, failed when one is not valid, usage when there was nothing to check
 */
export async function validatePaths(
  paths: readonly string[],
  out: Printer,
  plugins: string | undefined,
): Promise<number> {
  const files = paths.flatMap(blueprintsAt);
  const reader = plugins === undefined ? null : await readPluginFolder(plugins);
  const results: Checked[] = [];
  for (const file of files) results.push(await validateFile(file, reader));
  if (out.isMachine) out.record({ results });
  else for (const result of results) out.say(reportOf(result));
  if (results.length === 0) {
    out.say('there is no blueprint to check');
    return exitCodes.usage;
  }
  const invalid = results.filter((result) => !result.isValid).length;
  out.say(`${results.length - invalid} valid, ${invalid} invalid`);
  return invalid === 0 ? exitCodes.done : exitCodes.failed;
}

function blueprintsAt(path: string): string[] {
  const full = resolve(path);
  const stat = statSync(full, { throwIfNoEntry: false });
  if (!stat) throw new CommandFailure(`${path}: there is no such file or folder`);
  if (stat.isFile()) return [full];
  const main = join(full, 'blueprint.yaml');
  if (existsSync(main)) return [main];
  return readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/i.test(name) && !name.includes('node_modules'))
    .map((name) => join(full, name))
    .filter((file) => /^tosca_definitions_version:/m.test(readFileSync(file, 'utf8')))
    .sort();
}

async function validateFile(file: string, plugins: PluginReader | null): Promise<Checked> {
  const { plan, diagnostics } = await parseBlueprint({
    text: readFileSync(file, 'utf8'),
    location: pathToFileURL(file).href,
    resourcesBasePath: resolve(file, '..'),
    resolver: withBuiltinTypes(fileResolver(plugins)),
  });
  return { file: relative(process.cwd(), file), isValid: plan !== null, diagnostics };
}

/** Resolves imports from files of this machine only. Nothing is downloaded: other blueprints are on the manager. */
function fileResolver(plugins: PluginReader | null): ImportResolver {
  return {
    read: async (url) => {
      if (!url.startsWith('file:')) return null;
      const path = fileURLToPath(url.startsWith('file://') ? url : pathToFileURL(url.slice('file:'.length)));
      return existsSync(path) && statSync(path).isFile() ? readFileSync(path, 'utf8') : null;
    },
    exists: async (path) => existsSync(path),
    ...(plugins === null ? {} : { plugin: plugins }),
  };
}

function reportOf({ file, isValid, diagnostics }: Checked): string {
  return [
    `${file}: ${isValid ? 'valid' : 'invalid'}`,
    ...diagnostics.map((d) => `  ${diagnosticText(d)}`),
  ].join('\n');
}
