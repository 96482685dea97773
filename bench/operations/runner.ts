// Runs operations with the worker's own code and no manager, in the isolation of this machine.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseIsolation, type IsolationName, noIsolation } from '@baton/isolation';
import type { JsonObject } from '@baton/kernel';
import {
  buildRegistry,
  createCtxHost,
  createWarmPython,
  defaultAssetsDir,
  invoke,
  type OperationHost,
  type OperationTask,
  startOrphanGuard,
} from '@baton/plugin-runtime';
import { benchTask } from './part';

/** A Python that every account of an operation can start. */
const PYTHON = '/usr/bin/python3';

export interface Runner {
  /** Runs a function `module.name` of the plugin. @throws Error when it does not succeed */
  python(mapping: string): Promise<void>;
  /** Runs a script and returns the lines that it printed. @throws Error when it does not succeed */
  script(text: string): Promise<string[]>;
  /** Lets functions run in forks of a server, or each in a process of its own. */
  setWarm(isWarm: boolean): void;
  close(): Promise<void>;
}

/** @param modules modules of the plugin: name -> text */
export async function startRunner(
  mode: IsolationName | 'auto',
  modules: Record<string, string>,
): Promise<Runner> {
  // The path to the folders must be open to every account of an operation.
  const root = mkdtempSync('/var/tmp/baton-bench-operations-');
  chmodSync(root, 0o711);
  const prefix = pluginIn(root, modules);
  const guard = startOrphanGuard();
  const ctxHost = createCtxHost();
  await ctxHost.listen();
  const warm = createWarmPython();
  const scripts = {
    assetsDir: defaultAssetsDir,
    workRoot: join(root, 'work'),
    python: PYTHON,
    managerUrl: 'http://127.0.0.1:1',
    baseEnv: { PATH: process.env.PATH ?? '', HOME: '/', LANG: 'C.UTF-8' },
    guard,
    isolation: mode === 'none' ? noIsolation() : isolationOf(mode, join(root, 'work')),
    ctxHost,
  };
  let withWarm: object = { warm };
  const run = async (task: Partial<OperationTask>): Promise<string[]> => {
    const lines: string[] = [];
    const deps = { operations: buildRegistry([]), scripts, ...withWarm };
    const host = hostIn(root, prefix, lines);
    const end = await invoke({ ...TASK, ...task }, host, deps, new AbortController().signal);
    if (end.kind !== 'succeeded') throw new Error(`${JSON.stringify(end)} ${lines.join('\n')}`);
    return lines.filter((line) => line.startsWith('<out> ')).map((line) => line.slice(6));
  };
  return {
    python: async (mapping) => void (await run({ mapping, plugin: { ...TASK.plugin, name: 'bench' } })),
    script: (text) => run({ inputs: { script_source: text } }),
    setWarm: (isWarm) => {
      withWarm = isWarm ? { warm } : {};
    },
    close: async () => {
      await warm.close();
      ctxHost.close();
      guard.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function pluginIn(root: string, modules: Record<string, string>): string {
  const prefix = join(root, 'plugin');
  execFileSync(PYTHON, ['-m', 'venv', '--without-pip', prefix]);
  const lib = join(prefix, 'lib', readdirSync(join(prefix, 'lib'))[0]!, 'site-packages');
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(lib, `${name}.py`), text);
  return prefix;
}

function isolationOf(mode: IsolationName | 'auto', workRoot: string) {
  return chooseIsolation({
    mode,
    workRoot,
    assetsDir: defaultAssetsDir,
    uids: { first: 321_000, last: 321_100 },
    account: null,
    limits: { processes: 200, openFiles: 256, fileBytes: 1e8, memoryBytes: null },
    shared: [],
    hidden: [],
    path: process.env.PATH ?? '',
  }).isolation;
}

/** An operation of a deployment: it reads no node. */
const TASK: OperationTask = {
  ...benchTask,
  mapping: 'script_runner.tasks.run',
  plugin: { ...benchTask.plugin, name: 'script' },
  self: null,
};

function hostIn(root: string, prefix: string, lines: string[]): OperationHost {
  const unused = (): never => {
    throw new Error('the operations of this bench do not ask that');
  };
  const place = async (): Promise<string> => {
    const folder = join(root, 'deployment');
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  return {
    open: async () => ({ inputs: {} as JsonObject, self: null, related: null, deployment: { id: 'bench' } }),
    saveRuntimeProperties: unused,
    readDeployment: unused,
    readResource: unused,
    listResources: unused,
    emit: (_kind, _level, message) => void lines.push(message),
    cutText: (_text, at) => at,
    fetchUrl: unused,
    secret: unused,
    hide: unused,
    installedPlugin: async () => ({ kind: 'python', prefix, properties: {} }),
    deploymentPlace: place,
    deploymentDir: place,
  };
}
