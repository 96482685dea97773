import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseIsolation } from '@baton/isolation';
import {
  createCtxHost,
  createWarmPython,
  type InvokeDeps,
  invoke,
  type OperationEnd,
  type OperationHost,
  type OperationTask,
  startOrphanGuard,
} from '@baton/plugin-runtime';
import { benchRoot } from '../harness/child';

/** A way to run an operation whose rate is measured. */
export interface Part {
  name: string;
  /** Operations under way at once. */
  atOnce: number;
  /** Runs one operation. @throws Error when it does not succeed */
  run(): Promise<void>;
}

/** Folders and settings that the parts share. */
export interface Ground {
  root: string;
  deps: InvokeDeps;
  /** Runs an operation through the runtime. @throws Error when it does not succeed */
  operation(task: Partial<OperationTask>, host?: Partial<OperationHost>): Promise<void>;
  close(): Promise<void>;
}

/** A Python that every account of an operation can start. */
const PYTHON = '/usr/bin/python3';

/** Makes folders that every account may pass through, and the strongest isolation of this machine. Needs dist/. */
export async function openGround(): Promise<Ground> {
  const root = mkdtempSync('/var/tmp/baton-bench-operations-');
  const assetsDir = join(root, 'assets');
  mkdirSync(assetsDir);
  for (const name of ['bin', 'python', 'module'])
    cpSync(join(benchRoot, '../dist', name), join(assetsDir, name), { recursive: true });
  const workRoot = join(root, 'work');
  const path = process.env.PATH ?? '';
  const { isolation } = chooseIsolation({
    mode: 'best',
    workRoot,
    assetsDir,
    uids: { first: 320_200, last: 320_300 },
    account: null,
    limits: { processes: 200, openFiles: 256, fileBytes: 1e9, memoryBytes: null },
    shared: [],
    hidden: [],
    path,
  });
  const guard = startOrphanGuard();
  const baseEnv = { PATH: path, HOME: '/', LANG: 'C.UTF-8' };
  const managerUrl = 'http://127.0.0.1:1';
  const ctxHost = createCtxHost();
  await ctxHost.listen();
  const scripts = { assetsDir, workRoot, python: PYTHON, baseEnv, managerUrl, guard, isolation, ctxHost };
  const warm = createWarmPython();
  const deps: InvokeDeps = { operations: new Map(), scripts, warm };
  mkdirSync(join(root, 'deployment'), { mode: 0o777 });
  return {
    root,
    deps,
    operation: async (task, host = {}) => {
      const end = await invoke({ ...benchTask, ...task }, { ...hostOf(root), ...host }, deps, signal);
      if (end.kind !== 'succeeded') throw new Error(`the operation ${textOf(end)}`);
    },
    close: async () => {
      await warm.close();
      ctxHost.close();
      guard.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Writes the code of a TypeScript plugin; returns its folder. */
export function moduleFolder(root: string, name: string, code: string): string {
  const folder = join(root, 'modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.js'), code);
  return folder;
}

const { signal } = new AbortController();
const textOf = (end: OperationEnd): string => JSON.stringify(end).slice(0, 500);

const elsewhere = (): never => {
  throw new Error('the operations of this bench do not ask for that');
};

const hostOf = (root: string): OperationHost => ({
  open: elsewhere,
  saveRuntimeProperties: elsewhere,
  readDeployment: elsewhere,
  readResource: elsewhere,
  listResources: elsewhere,
  emit: () => undefined,
  cutText: (_, at) => at,
  fetchUrl: elsewhere,
  installedPlugin: async () => null,
  secret: elsewhere,
  hide: (text) => text,
  deploymentPlace: async () => join(root, 'deployment'),
  deploymentDir: async () => join(root, 'deployment'),
});

/** An operation of a node instance; the benches change what they need. */
export const benchTask: OperationTask = {
  taskId: 'task',
  attempt: 1,
  executionId: 'execution',
  tenant: 'default_tenant',
  deploymentId: 'dep',
  deploymentDisplayName: 'dep',
  blueprintId: 'bp',
  workflowId: 'install',
  workflowParameters: {},
  createdBy: 'admin',
  isDryRun: false,
  operation: 'cloudify.interfaces.lifecycle.create',
  mapping: '',
  plugin: { name: 'bench', packageName: null, packageVersion: null, source: null, properties: {} },
  self: { nodeInstanceId: 'node_abc123', nodeId: 'node' },
  related: null,
  inputs: {},
  hasFunctions: false,
  retryNumber: 0,
  maxRetries: 0,
  timeoutMs: null,
  isTimeoutRecoverable: false,
  isResumed: false,
  executionToken: 'token',
};
