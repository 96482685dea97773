import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type BaseScope, FatalError, requireDownloads } from '@baton/plugin-sdk';
import { requireInside } from '../settings/inside';
import { type AnsiblePrograms, programsIn } from './programs';
import { needsNothing, type Recipe, recipeDigest } from './recipe';

/** Installations that this process is making: operations that need the same one wait for it. */
const making = new Map<string, Promise<void>>();

/**
 * Makes the installation in the temporary folder of this process, unless it is there, and returns its programs. `base`: Ansible of
 * the machine, which an installation without a source of its own stands on; null: there is a source.
 * @throws FatalError that says which program failed, and why
 */
export async function build(
  scope: BaseScope,
  recipe: Recipe,
  base: AnsiblePrograms | null,
): Promise<AnsiblePrograms> {
  if (base !== null && needsNothing(recipe)) return base;
  const folder = join(tmpdir(), `installation-${recipeDigest(recipe, base?.playbook.file ?? '')}`);
  const mark = join(folder, 'complete');
  if ((await stat(mark).catch(() => null)) === null) {
    const running =
      making.get(folder) ?? make(scope, recipe, base, folder).finally(() => making.delete(folder));
    making.set(folder, running);
    await running;
  }
  return await programsOf(recipe, base, folder);
}

async function make(
  scope: BaseScope,
  recipe: Recipe,
  base: AnsiblePrograms | null,
  folder: string,
): Promise<void> {
  // A process that died on its way has left no mark: what is there is made again.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const packages = [...(base === null ? [recipe.source] : []), ...recipe.packages];
  if (packages.length > 0) await makeVenv(scope, await pathsOf(scope, packages, folder), base, folder);
  const programs = await programsOf(recipe, base, folder);
  await installContent(scope, programs, 'collection', recipe.collections, folder);
  await installContent(scope, programs, 'role', recipe.roles, folder);
  const mark = join(folder, 'complete');
  await writeFile(`${mark}.part`, '');
  await rename(`${mark}.part`, mark);
}

async function programsOf(
  recipe: Recipe,
  base: AnsiblePrograms | null,
  folder: string,
): Promise<AnsiblePrograms> {
  const bin = join(folder, 'venv/bin');
  const hasVenv = base === null || recipe.packages.length > 0;
  const programs = base === null ? programsIn(bin) : base;
  const python = join(bin, 'python');
  return {
    // Ansible of the machine runs with the Python of the venv, which sees the packages of both.
    playbook: hasVenv && base !== null ? { file: python, before: [base.playbook.file] } : programs.playbook,
    galaxy: programs.galaxy,
    env: {
      ANSIBLE_COLLECTIONS_PATH: `${join(folder, 'collections')}:/usr/share/ansible/collections`,
      ANSIBLE_ROLES_PATH: `${join(folder, 'roles')}:/usr/share/ansible/roles:/etc/ansible/roles`,
    },
  };
}

async function makeVenv(
  { exec, log }: BaseScope,
  packages: readonly string[],
  base: AnsiblePrograms | null,
  folder: string,
): Promise<void> {
  requireFrom(packages);
  const venv = join(folder, 'venv');
  const python = base === null ? 'python3' : await pythonOf(base.playbook.file);
  const shared = base === null ? [] : ['--system-site-packages'];
  const made = await exec(python, ['-m', 'venv', ...shared, venv], { exitCodes: { 1: 'ok' } });
  if (made.exitCode !== 0)
    throw new FatalError(
      `a venv cannot be made (on Debian: apt-get install python3-venv): ${lastLine(made)}`,
    );
  log.info(`Installing ${packages.map((name) => basename(name)).join(', ')} with pip`);
  const options = ['--disable-pip-version-check', '--no-input', '--retries=2', '--timeout=15'];
  const done = await exec(join(venv, 'bin/python'), ['-m', 'pip', 'install', ...options, ...packages], {
    exitCodes: { 1: 'ok', 2: 'ok' },
  });
  if (done.exitCode !== 0)
    throw new FatalError(
      `pip could not install ${packages.join(', ')}: ${lastLine(done)}. It needs a network to a package index. Without one, set use_existing_resource and use the Ansible of the worker`,
    );
}

/** The Python that Ansible of the machine runs with: its packages are there. */
async function pythonOf(program: string): Promise<string> {
  const file = await open(program);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return /^#! *(\/\S*python\S*)\s/.exec(buffer.toString('latin1', 0, bytesRead))?.[1] ?? 'python3';
  } finally {
    await file.close();
  }
}

async function installContent(
  scope: BaseScope,
  { galaxy, env }: AnsiblePrograms,
  kind: 'collection' | 'role',
  names: readonly string[],
  folder: string,
): Promise<void> {
  if (names.length === 0) return;
  const place = join(folder, `${kind}s`);
  const paths = await pathsOf(scope, names, folder);
  requireFrom(paths);
  // For a role, a path alone would be the name of the role, too.
  const named =
    kind === 'role' ? paths.map((path) => (path.startsWith('/') ? `file://${path}` : path)) : paths;
  const args = [kind, 'install', '--force', '-p', place, ...named];
  const done = await scope.exec(galaxy.file, [...galaxy.before, ...args], {
    env: { ...env, LC_ALL: 'C.UTF-8', ANSIBLE_HOME: join(folder, 'home'), ANSIBLE_NOCOLOR: '1' },
    exitCodes: { 1: 'ok', 2: 'ok', 5: 'ok', 250: 'ok' },
  });
  if (done.exitCode !== 0)
    throw new FatalError(
      `ansible-galaxy could not install ${names.join(', ')}: ${lastLine(done)}. It needs a network to its servers, unless the names are archives of the blueprint`,
    );
}

/** @throws FatalError for a name that a server would have to answer, where downloads are refused */
function requireFrom(names: readonly string[]): void {
  for (const name of names) if (!name.startsWith('/')) requireDownloads(basename(name));
}

/** Names that are archives become files: those of the blueprint are brought here. */
async function pathsOf({ ctx }: BaseScope, names: readonly string[], folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const name of names) {
    const isOfBlueprint =
      /\.(tar\.gz|tgz|whl|zip)$/.test(name) && !name.includes('://') && !name.startsWith('/');
    paths.push(
      isOfBlueprint
        ? await ctx.downloadResource(requireInside(name, 'installation'), join(folder, basename(name)))
        : name,
    );
  }
  return paths;
}

/** The last lines that tell of an error; else the last line. */
function lastLine({ stdout, stderr }: { stdout: string; stderr: string }): string {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => /\S/.test(line));
  const found = lines.filter((line) => /error|fail|cannot|could not|not installed/i.test(line));
  return (found.length > 0 ? found : lines).slice(-2).join(' ').slice(0, 500);
}
