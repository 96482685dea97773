import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseIsolation, findProgram, type IsolationName } from '@baton/isolation';
import type { ModuleLimits } from '../module/module-plugin';
import { createModuleProcesses } from '../module/module-pool';
import { defaultAssetsDir } from '../script/settings';
import { makeRig, type Rig } from './memory-host';

export interface ModuleRig extends Rig {
  /** Runs an operation of the plugin that `code` makes. */
  module(mapping: string, task?: Partial<Rig['task']>, signal?: AbortSignal): ReturnType<Rig['run']>;
}

const hasBubblewrap = findProgram('bwrap', process.env.PATH ?? '') !== null;
/** The kinds of isolation that this account has on this machine. */
export const MODES: readonly IsolationName[] =
  process.getuid?.() === 0
    ? ['none', 'uid', ...(hasBubblewrap ? (['bubblewrap'] as const) : [])]
    : ['none', 'namespaces'];

const repository = join(__dirname, '../../../..');
const folders: string[] = [];
const rigs: Rig[] = [];
let assets: string | null = null;

afterAll(async () => {
  for (const rig of rigs.splice(0)) await rig.deps.modules?.close();
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
  assets = null;
});

/** A folder that every account may pass through; below /var/tmp, because operations have a /tmp of their own. */
function folder(): string {
  const path = mkdtempSync('/var/tmp/baton-module-');
  chmodSync(path, 0o755);
  folders.push(path);
  return path;
}

/** The assets of the runtime together with the program for processes of plugins, which the build makes otherwise. */
function builtAssets(): string {
  if (assets !== null) return assets;
  assets = folder();
  execFileSync(process.execPath, [join(repository, 'tools/module-host.mjs'), assets]);
  for (const name of ['bin', 'python'])
    cpSync(join(defaultAssetsDir, name), join(assets, name), { recursive: true });
  return assets;
}

/** Writes the code of a plugin as its package has it; `operations`, `workflows`: texts of objects. Returns its folder. */
export function moduleFolder(operations: string, before = '', workflows = ''): string {
  const path = join(folder(), 'plugin');
  mkdirSync(path, { mode: 0o755 });
  const marks = `const mark = Symbol.for('baton.resumable-operation');
const resumable = (operation) => Object.assign(operation, { [mark]: true });
const failure = (kind, message, retryAfter = null) =>
  Object.assign(new Error(message), { [Symbol.for('baton.operation-error')]: kind, exceptionType: 'Odd', retryAfter, causes: [] });`;
  const code = `${marks}\n${before}\nmodule.exports.default = { name: 'mine', version: '1.0.0', secrets: ['token'], operations: {${operations}}, workflows: {${workflows}} };\n`;
  writeFileSync(join(path, 'index.js'), code, { mode: 0o644 });
  return path;
}

/** A rig whose plugin `mine` is a TypeScript plugin. */
export function makeModuleRig(
  mode: IsolationName,
  path: string,
  limits: Partial<ModuleLimits> = {},
): ModuleRig {
  const rig = makeRig();
  const { scripts } = rig.deps;
  scripts.assetsDir = builtAssets();
  scripts.workRoot = join(folder(), 'work');
  const { isolation } = chooseIsolation({
    mode,
    workRoot: scripts.workRoot,
    assetsDir: scripts.assetsDir,
    // Not the uids of workers: a worker of another suite on this machine would restrict their network.
    uids: { first: 340_200, last: 340_300 },
    account: null,
    limits: { processes: 200, openFiles: 256, fileBytes: 50_000_000, memoryBytes: null },
    shared: [],
    hidden: [],
    path: process.env.PATH ?? '',
  });
  scripts.isolation = isolation;
  rig.deps.modules = createModuleProcesses(scripts, limits);
  rig.host.installedPlugin = async (name) =>
    name === 'mine' ? { kind: 'module', folder: path, secrets: null, properties: { region: 'x' } } : null;
  rig.task.plugin = { ...rig.task.plugin, name: 'mine' };
  rigs.push(rig);
  return Object.assign(rig, {
    module: (mapping: string, task: Partial<Rig['task']> = {}, signal?: AbortSignal) =>
      rig.run({ ...task, mapping }, signal),
  });
}
