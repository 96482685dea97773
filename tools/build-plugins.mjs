// The plugins that come with Baton: each folder below plugins/ becomes a package, dist/plugins/<name>-<version>.bplug, made by the
// `baton plugins build` of dist/, as the package of every other author.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './run-steps.mjs';

/** Builds all packages into `out`. Needs dist/apps/cli. @throws Error that names each plugin that cannot be built */
export async function buildPlugins(out) {
  const folder = join(root, 'plugins');
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'package.json')));
  mkdirSync(out, { recursive: true });
  const done = await Promise.allSettled(names.map((name) => buildPlugin(join(folder, name), out)));
  const problems = done.flatMap((result, i) =>
    result.status === 'rejected'
      ? [`plugins/${names[i]}: ${result.reason.stderr || result.reason.message}`]
      : [],
  );
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

async function buildPlugin(folder, out) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const command = [join(root, 'dist/apps/cli/main.js'), 'plugins', 'build', folder, '--against', 'none'];
  await promisify(execFile)(process.execPath, [...command, '--out', join(out, `${name}-${version}.bplug`)]);
}

if (process.argv[1] === import.meta.filename) await buildPlugins(join(root, 'dist/plugins'));
