/** The engine as an agent sees it: leases with attempts, outcomes taken once, batches of lines taken once. All in memory. */

import { createHash } from 'node:crypto';
import type { DoubleOptions } from '@baton/agent-link/testing';
import type { executionsRpc, OperationAssignment, TaskEvent } from '@baton/contracts';
import { AppError, newId, notFound } from '@baton/kernel';

export interface DoubleTask {
  id: string;
  executionId: string;
  attempt: number;
  assignment: OperationAssignment;
  state: 'ready' | 'leased' | 'ended';
  isCancelled: boolean;
  outcomes: executionsRpc.TaskOutcome[];
  leases: number;
}

export interface EngineDouble {
  handlers: DoubleOptions;
  tasks: Map<string, DoubleTask>;
  events: TaskEvent[];
  files: Record<string, string>;
  properties: Record<string, unknown>;
  claims: executionsRpc.ClaimAgentTasksRequest[];
  refused: string[];
  leaseMs: number;
  /** The answer to the next report has the lease of this task, and is lost. */
  lostLease: DoubleTask | null;
  /** Archive (.bplug) of the plugin `mine` of all blueprints; null: there is none. */
  plugin: Buffer | null;
  add(inputs: Record<string, unknown>, more?: Partial<OperationAssignment>): DoubleTask;
  /** An operation that runs this script, given as text. */
  script(text: string, more?: Partial<OperationAssignment>): DoubleTask;
}

const BASE: OperationAssignment = {
  executionId: '',
  tenant: 'default_tenant',
  deploymentId: 'dep',
  deploymentDisplayName: 'dep',
  blueprintId: 'bp',
  workflowId: 'install',
  workflowParameters: {},
  createdBy: 'admin',
  isDryRun: false,
  operation: 'cloudify.interfaces.lifecycle.create',
  mapping: 'script_runner.tasks.run',
  plugin: { name: 'script', packageName: null, packageVersion: null, source: null, properties: null },
  executor: 'host_agent',
  agent: 'default_tenant/vm_1',
  self: { nodeInstanceId: 'web_1', nodeId: 'web' },
  related: null,
  hostInstanceId: 'vm_1',
  inputs: {},
  hasFunctions: false,
  retryNumber: 0,
  maxRetries: 3,
  timeoutMs: null,
  isTimeoutRecoverable: false,
  isResumed: false,
  executionToken: 'the token of the execution',
  states: [],
};

export function createEngineDouble(): EngineDouble {
  const engine: EngineDouble = {
    handlers: {},
    tasks: new Map(),
    events: [],
    files: {},
    properties: {},
    claims: [],
    refused: [],
    leaseMs: 900_000,
    lostLease: null,
    plugin: null,
    add: (inputs, more = {}) => {
      const executionId = newId();
      const task: DoubleTask = {
        id: newId(),
        executionId,
        attempt: 1,
        assignment: { ...BASE, executionId, inputs, ...more },
        state: 'ready',
        isCancelled: false,
        outcomes: [],
        leases: 0,
      };
      engine.tasks.set(task.id, task);
      return task;
    },
    script: (text, more) => engine.add({ script_path: `bp/${name(engine, text)}` }, more),
  };
  Object.assign(engine.handlers, {
    executions: executionsOf(engine),
    deployments: deploymentsOf(engine),
    catalog: catalogOf(engine),
  });
  return engine;
}

function name(engine: EngineDouble, text: string): string {
  const path = `script-${Object.keys(engine.files).length}.sh`;
  engine.files[`bp/${path}`] = text;
  return path;
}

function lease(engine: EngineDouble, task: DoubleTask): executionsRpc.TaskLease {
  task.state = 'leased';
  task.leases++;
  return {
    taskId: task.id,
    executionId: task.executionId,
    attempt: task.attempt,
    leaseMs: engine.leaseMs,
    assignmentJson: JSON.stringify(task.assignment),
    proof: `proof of ${task.id}`,
  };
}

function executionsOf(engine: EngineDouble): NonNullable<DoubleOptions['executions']> {
  const batches = new Set<string>();
  const ready = (): DoubleTask[] => [...engine.tasks.values()].filter(({ state }) => state === 'ready');
  return {
    claimTask: async ({ taskId, room }) => {
      const named = ready().filter(({ id }) => id === taskId);
      return { leases: named.slice(0, room).map((task) => lease(engine, task)) };
    },
    claimAgentTasks: async (asked) => {
      engine.claims.push(asked);
      const isCurrent = ({ taskId, attempt }: { taskId: string; attempt: number }): boolean => {
        const task = engine.tasks.get(taskId);
        return task?.state === 'leased' && task.attempt === attempt;
      };
      const lost = asked.held.filter((one) => !isCurrent(one)).map(({ taskId }) => taskId);
      const named = new Set(asked.held.map(({ taskId }) => taskId));
      const again = asked.isNewStream
        ? [...engine.tasks.values()].filter(({ state, id }) => state === 'leased' && !named.has(id))
        : [];
      const leases = [...again, ...ready().slice(0, asked.room)].map((task) => lease(engine, task));
      return { leases, lost };
    },
    finishTasks: async ({ outcomes }) => {
      const refused: string[] = [];
      for (const outcome of outcomes) {
        const task = engine.tasks.get(outcome.taskId);
        if (task?.state === 'leased' && task.attempt === outcome.attempt) {
          task.outcomes.push(outcome);
          task.state = 'ended';
        } else refused.push(outcome.taskId);
      }
      engine.refused.push(...refused);
      if (engine.lostLease) {
        engine.lostLease.state = 'leased';
        engine.lostLease = null;
        throw new AppError('service_unavailable_error', 'the answer is lost');
      }
      return { refused, leases: [], untaken: [] };
    },
    heartbeat: async ({ taskIds }) => {
      const held = taskIds.filter((id) => engine.tasks.get(id)?.state === 'leased');
      return {
        lost: taskIds.filter((id) => !held.includes(id)),
        kill: held.filter((id) => engine.tasks.get(id)?.isCancelled),
        proofs: {},
        weights: {},
      };
    },
    appendEvents: async ({ batchId, eventsJson }) => {
      if (!batches.has(batchId)) engine.events.push(...(JSON.parse(eventsJson) as TaskEvent[]));
      batches.add(batchId);
      return {};
    },
  };
}

function deploymentsOf(engine: EngineDouble): NonNullable<DoubleOptions['deployments']> {
  let version = 1;
  return {
    openOperation: async ({ inputsJson, nodeInstanceId }) => ({
      inputsJson,
      selfJson: JSON.stringify({
        node: { id: 'web', type: 't', type_hierarchy: ['t'], properties: {}, number_of_instances: 1 },
        instance: {
          id: nodeInstanceId,
          node_id: 'web',
          host_id: 'vm_1',
          state: 'creating',
          index: 1,
          system_properties: {},
          relationships: [],
          scaling_groups: [],
          version,
          runtime_properties: engine.properties,
        },
      }),
      relatedJson: '',
      deploymentJson: '{"id":"dep"}',
      secretsJson: '',
    }),
    updateNodeInstance: async (asked) => {
      if (asked.version !== version) throw new AppError('conflict_error', 'Node instance update conflict');
      engine.properties = JSON.parse(asked.runtimePropertiesJson) as Record<string, unknown>;
      return { version: ++version };
    },
  };
}

const digestOf = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

function catalogOf(engine: EngineDouble): NonNullable<DoubleOptions['catalog']> {
  return {
    getBlueprint: async ({ tenant, blueprintId: id }) => ({
      id,
      tenant,
      digest: `sha-of-${id}-${Object.keys(engine.files).length}`,
      planJson: '',
      state: 'uploaded',
      visibility: 'tenant',
      createdBy: 'admin',
      mainFileName: 'b.yaml',
      labelsJson: '[]',
    }),
    readPlan: async function* () {
      const mine = { name: 'mine', install: true, package_name: 'mine', package_version: '1.0.0' };
      yield { data: Buffer.from(JSON.stringify({ nodes: [{ plugins: engine.plugin ? [mine] : [] }] })) };
    },
    readBlueprintFile: async function* ({ path }) {
      const text = engine.files[path.startsWith('bp/') ? path : `bp/${path}`];
      if (text === undefined) throw notFound('file', path);
      for (let at = 0; at < text.length; at += 7) yield { data: Buffer.from(text.slice(at, at + 7)) };
    },
    listBlueprintFiles: async ({ folder }) => {
      throw notFound('folder', folder);
    },
    findPlugins: async () => ({
      plugins: engine.plugin
        ? [
            {
              id: 'p',
              digest: digestOf(engine.plugin),
              archiveName: 'mine.bplug',
              packageName: 'mine',
              packageVersion: '1.0.0',
            },
          ]
        : [],
    }),
    readWagon: async function* () {
      const data = engine.plugin!;
      for (let at = 0; at < data.length; at += 1_000) yield { data: data.subarray(at, at + 1_000) };
    },
    getFolder: async () => ({
      version: '',
      files: [],
      maxFiles: 100,
      maxBytes: 1_000_000,
      maxFileBytes: 1_000_000,
      isChanged: true,
    }),
    changeFolder: async () => ({ version: '1' }),
  };
}
