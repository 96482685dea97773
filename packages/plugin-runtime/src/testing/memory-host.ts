import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noIsolation } from '@baton/isolation';
import { AppError, type JsonObject, notFound } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import type { OperationHost } from '../host';
import { type InvokeDeps, invoke } from '../invoke';
import type { OperationEnd } from '../operation-end';
import { buildRegistry, SCRIPT_MAPPING } from '../registry';
import { startOrphanGuard } from '../script/orphan-guard';
import { defaultAssetsDir } from '../script/settings';
import type { InstanceRecord, NodeRecord, OperationTask } from '../task';

/** A host with its model in memory and checked versions, for tests of the code that uses a host. */
export interface MemoryHost extends OperationHost {
  instances: Map<string, InstanceRecord>;
  nodes: Map<string, NodeRecord>;
  files: Record<string, string>;
  secrets: Record<string, string>;
  lines: { kind: string; level: string; message: string }[];
  /** Texts of log lines, without those about the process itself. */
  logged(): string[];
  opened: number;
  root: string;
}

/** Folders to remove at the end of the test file. */
const folders: string[] = [];
afterAll(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
});

function folder(prefix: string): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  folders.push(path);
  return path;
}

function instance(id: string, nodeId: string): InstanceRecord {
  return {
    id,
    node_id: nodeId,
    host_id: null,
    version: 1,
    state: 'starting',
    index: 1,
    runtime_properties: {},
    system_properties: {},
    relationships: [],
    scaling_groups: [],
  };
}

function memoryHost(task: () => OperationTask): MemoryHost {
  const root = folder('baton-host-');
  const instances = new Map([
    ['web_abc123', instance('web_abc123', 'web')],
    ['db_def456', instance('db_def456', 'db')],
  ]);
  const properties = {
    port: 8080,
    nested: { list: [{ name: 'first' }], on: true },
    keys: 'hidden by the method',
  };
  const nodes = new Map(
    ['web', 'db'].map((id) => [
      id,
      {
        id,
        type: 't.Node',
        type_hierarchy: ['cloudify.nodes.Root', 't.Node'],
        properties,
        number_of_instances: 1,
      },
    ]),
  );
  const sideOf = (side: { nodeInstanceId: string; nodeId: string } | null) =>
    side && {
      node: nodes.get(side.nodeId) as NodeRecord,
      instance: structuredClone(instances.get(side.nodeInstanceId) as InstanceRecord),
    };
  const hidden = new Set<string>();
  const host: MemoryHost = {
    instances,
    nodes,
    files: {},
    lines: [],
    opened: 0,
    root,
    logged: () =>
      host.lines
        .map((l) => l.message)
        .filter((m) => !/^(Process created|Execution done|Waiting for)/.test(m)),
    open: async () => {
      host.opened++;
      const { self, related, inputs } = task();
      return {
        inputs: inputs as JsonObject,
        self: sideOf(self),
        related: sideOf(related),
        deployment: { id: 'dep', creator: 'admin', resource_tags: { team: 'a' } },
      };
    },
    saveRuntimeProperties: async ({ instanceId, version, properties: runtime }) => {
      const stored = instances.get(instanceId) as InstanceRecord;
      if (stored.version !== version) throw new AppError('conflict_error', 'Node instance update conflict');
      instances.set(instanceId, { ...stored, version: version + 1, runtime_properties: runtime });
      return version + 1;
    },
    readDeployment: async () => ({ nodes: [...nodes.values()], instances: [...instances.values()] }),
    readResource: async (path) => {
      const text = host.files[path];
      if (text === undefined) throw notFound('file', path);
      const place = join(root, path.replaceAll('/', '_'));
      writeFileSync(place, text);
      return place;
    },
    listResources: async (path) => {
      const inside = Object.keys(host.files).filter((file) => file.startsWith(`${path}/`));
      if (inside.length === 0) throw notFound('folder', path);
      return inside.map((file) => file.slice(path.length + 1));
    },
    emit: (kind, level, message) => void host.lines.push({ kind, level, message: host.hide(message) }),
    cutText: (_, at) => at,
    fetchUrl: async (url) =>
      url.includes('/ok.sh')
        ? { status: 200, body: Buffer.from('echo fetched') }
        : { status: 404, body: Buffer.alloc(0) },
    installedPlugin: async () => null,
    secrets: {},
    secret: async (name) => {
      const value = host.secrets[name];
      if (value === undefined) throw new FatalError(`Secret ${name} was not found`);
      hidden.add(value);
      return value;
    },
    hide: (text) => [...hidden].reduce((shown, value) => shown.replaceAll(value, '********'), text),
    deploymentPlace: async () => {
      const dir = join(root, 'deployments', 'default_tenant', 'dep');
      await mkdir(dir, { recursive: true });
      return dir;
    },
    deploymentDir: async () => {
      const dir = join(root, 'deployments', 'default_tenant', 'dep');
      await mkdir(dir, { recursive: true });
      return dir;
    },
  };
  return host;
}

const baseTask: OperationTask = {
  taskId: '0199-task',
  attempt: 1,
  executionId: '0199-execution',
  tenant: 'default_tenant',
  deploymentId: 'dep',
  deploymentDisplayName: 'Dep',
  blueprintId: 'bp',
  workflowId: 'install',
  workflowParameters: {},
  createdBy: 'admin',
  isDryRun: false,
  operation: 'cloudify.interfaces.lifecycle.start',
  mapping: SCRIPT_MAPPING,
  plugin: { name: 'script', packageName: null, packageVersion: null, source: null, properties: {} },
  self: { nodeInstanceId: 'web_abc123', nodeId: 'web' },
  related: null,
  inputs: {},
  hasFunctions: false,
  retryNumber: 0,
  maxRetries: 3,
  timeoutMs: null,
  isTimeoutRecoverable: false,
  isResumed: false,
  executionToken: 'token',
};

export interface Rig {
  task: OperationTask;
  host: MemoryHost;
  deps: InvokeDeps;
  run(task?: Partial<OperationTask>, signal?: AbortSignal): Promise<OperationEnd>;
  /** Runs an inline script. */
  script(source: string, inputs?: JsonObject, task?: Partial<OperationTask>): Promise<OperationEnd>;
}

/** Makes a fresh host and everything else that `invoke` needs. */
export function makeRig(): Rig {
  const rig: Rig = {
    task: structuredClone(baseTask),
    host: memoryHost(() => rig.task),
    deps: {
      operations: buildRegistry([]),
      scripts: {
        assetsDir: defaultAssetsDir,
        workRoot: folder('baton-work-'),
        python: 'python3',
        managerUrl: 'http://127.0.0.1:1',
        baseEnv: { PATH: process.env.PATH ?? '', HOME: '/', LANG: 'C.UTF-8' },
        guard: startOrphanGuard(),
        isolation: noIsolation(),
      },
    },
    run: (task = {}, signal = new AbortController().signal) => {
      rig.task = { ...rig.task, ...task };
      return invoke(rig.task, rig.host, rig.deps, signal);
    },
    script: (source, inputs = {}, task = {}) =>
      rig.run({ ...task, inputs: { script_source: source, ...inputs } }),
  };
  return rig;
}

/** Whether a process runs; a zombie does not count. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
