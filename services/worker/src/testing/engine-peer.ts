import {
  catalogRpc,
  deploymentsRpc,
  executionsRpc,
  type OperationAssignment,
  type TaskEvent,
  workersRpc,
} from '@baton/contracts';
import { AppError, type JsonObject, newId, notFound, Secret, silentLog, systemClock } from '@baton/kernel';
import { createRpcServer, type RpcHandlers, type ServiceDefinition } from '@baton/rpc';
import {
  createLeaseProofs,
  derivedTrust,
  digestOfInputs,
  type HeldLease,
  type LeaseProofs,
  signCertificate,
} from '@baton/trust';
import { createFolderPeer, type FolderPeer } from './folder-peer';

const { OutcomeKind } = executionsRpc;

const noCode = async (): Promise<never> => {
  throw new AppError('bad_parameters_error', 'this peer runs no workflow code');
};

/** A task of the peer: ready when the tasks that it waits for have succeeded. */
export interface PeerTask {
  id: string;
  executionId: string;
  assignment: OperationAssignment;
  after: string[];
  state: 'waiting' | 'ready' | 'leased' | 'succeeded' | 'failed';
  attempt: number;
  holder: string;
  /** Monotonic ms. */
  leaseUntil: number;
  isCancelled: boolean;
  outcomes: executionsRpc.TaskOutcome[];
}

export interface PeerInstance {
  version: number;
  runtime_properties: JsonObject;
}

/**
 * The other side of the worker's contract, reduced but true to it: leases with attempts as fencing tokens, outcomes accepted
 * once, newly ready tasks in the answer, event batches idempotent by id. All state is in memory; the calls use real gRPC.
 */
export interface EnginePeer {
  address: string;
  internalKey: string;
  leases: LeaseProofs;
  tasks: Map<string, PeerTask>;
  tasksOf: Map<string, PeerTask[]>;
  events: TaskEvent[];
  instances: Map<string, PeerInstance>;
  files: Record<string, string>;
  /** Folders of the file server. */
  folders: FolderPeer;
  secrets: Record<string, unknown>;
  /** Inputs that OpenOperation returns for an operation whose inputs have functions; null: the inputs as given. */
  evaluated: JsonObject | null;
  refused: { taskId: string; worker: string; attempt: number }[];
  /** Writes in their order: `rp`, `events`, `outcome <kind>`. */
  writes: string[];
  /** Called before each rpc with its name; throwing makes it fail. */
  before: (method: string, workerId: string) => void | Promise<void>;
  /** Returns whether this call leaves the outcomes of an execution untaken. */
  leaves: (executionId: string) => boolean;
  /** Called with each task that a report has made ready and that its worker has no room for: it must wake another worker. */
  announce: (task: PeerTask) => Promise<void>;
  beats: Map<string, number>;
  leaseMs: number;
  addTask(
    assignment?: Partial<OperationAssignment>,
    task?: Partial<Pick<PeerTask, 'after' | 'executionId'>>,
  ): PeerTask;
  /** Makes tasks whose leases have run out ready again under the next attempt; returns these tasks. */
  reap(): PeerTask[];
  ended(): boolean;
  close(): Promise<void>;
}

const baseAssignment: OperationAssignment = {
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
  executor: 'central_deployment_agent',
  self: { nodeInstanceId: 'web_1', nodeId: 'web' },
  related: null,
  hostInstanceId: null,
  inputs: {},
  hasFunctions: false,
  retryNumber: 0,
  maxRetries: 3,
  timeoutMs: null,
  isTimeoutRecoverable: false,
  isResumed: false,
  executionToken: 'token',
  states: [],
};

/** Services that the peer stands for. */
const PEERS = ['executions', 'deployments', 'catalog', 'secrets', 'cluster-status'] as const;

export async function startEnginePeer(leaseMs = 15_000): Promise<EnginePeer> {
  const internalKey = 'a key for the tests of workers';
  const trust = derivedTrust('executions', new Secret(internalKey));
  const leases = createLeaseProofs(new Secret(internalKey));
  const guard = { bundle: trust.bundle, services: PEERS, leases };
  const server = createRpcServer({ log: silentLog, guard });
  const certificate = (workerId: string, publicKey: string) => ({
    certificate: signCertificate(trust.identity, { workerId, publicKey }),
  });
  const keys = new Map<string, string>();
  server.serve(workersRpc.WorkersServiceDefinition, {
    registerWorker: async ({ workerId, publicKey }) => {
      keys.set(workerId, publicKey);
      return certificate(workerId, publicKey);
    },
    renewWorker: async ({ workerId }) => certificate(workerId, keys.get(workerId)!),
    registerAgent: async ({ workerId, publicKey }) => certificate(workerId, publicKey),
  });
  const peer: EnginePeer = {
    address: '',
    internalKey,
    leases,
    tasks: new Map(),
    tasksOf: new Map(),
    events: [],
    instances: new Map([['web_1', { version: 1, runtime_properties: {} }]]),
    files: {},
    folders: createFolderPeer((method) => peer.before(method, '')),
    secrets: {},
    evaluated: null,
    refused: [],
    writes: [],
    before: () => undefined,
    leaves: () => false,
    announce: async () => undefined,
    beats: new Map(),
    leaseMs,
    addTask: (assignment = {}, { after = [], executionId = newId() } = {}) => {
      const task: PeerTask = {
        id: newId(),
        executionId,
        assignment: { ...baseAssignment, executionId, ...assignment },
        after,
        state: after.length > 0 ? 'waiting' : 'ready',
        attempt: 1,
        holder: '',
        leaseUntil: 0,
        isCancelled: false,
        outcomes: [],
      };
      peer.tasks.set(task.id, task);
      peer.tasksOf.set(executionId, [...(peer.tasksOf.get(executionId) ?? []), task]);
      return task;
    },
    reap: () => {
      const dead = [...peer.tasks.values()].filter(
        (t) => t.state === 'leased' && t.leaseUntil < systemClock.monotonic(),
      );
      for (const task of dead) Object.assign(task, { state: 'ready', attempt: task.attempt + 1, holder: '' });
      return dead;
    },
    ended: () => [...peer.tasks.values()].every((t) => t.state === 'succeeded' || t.state === 'failed'),
    close: () => server.close(),
  };
  server.serve(
    executionsRpc.ExecutionsServiceDefinition,
    whole(executionsRpc.ExecutionsServiceDefinition, executionsOf(peer)),
  );
  server.serve(
    deploymentsRpc.DeploymentsServiceDefinition,
    whole(deploymentsRpc.DeploymentsServiceDefinition, modelOf(peer)),
  );
  server.serve(
    catalogRpc.CatalogServiceDefinition,
    whole(catalogRpc.CatalogServiceDefinition, filesOf(peer)),
  );
  peer.address = `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  return peer;
}

/** Adds handlers that fail, for methods that workers never call. */
function whole<Def extends ServiceDefinition>(
  definition: Def,
  handlers: Partial<RpcHandlers<Def>>,
): RpcHandlers<Def> {
  const missing = Object.keys(definition.methods).map((name) => [
    name,
    () => {
      throw new AppError('unknown_action', `workers do not call ${name}`);
    },
  ]);
  return { ...Object.fromEntries(missing), ...handlers } as RpcHandlers<Def>;
}

function heldLease({ id, attempt, assignment }: PeerTask, workerId: string): HeldLease {
  return {
    workerId,
    tenant: assignment.tenant,
    executionId: assignment.executionId,
    taskId: id,
    attempt,
    deploymentId: assignment.deploymentId,
    blueprintId: assignment.blueprintId,
    inputsDigest: digestOfInputs(JSON.stringify(assignment.inputs)),
    username: assignment.createdBy,
  };
}

function lease(peer: EnginePeer, task: PeerTask, workerId: string): executionsRpc.TaskLease {
  Object.assign(task, {
    state: 'leased',
    holder: workerId,
    leaseUntil: systemClock.monotonic() + peer.leaseMs,
  });
  const { id, executionId, attempt, assignment } = task;
  return {
    taskId: id,
    executionId,
    attempt,
    leaseMs: peer.leaseMs,
    assignmentJson: JSON.stringify(assignment),
    proof: peer.leases.prove(heldLease(task, workerId), peer.leaseMs),
  };
}

function claimReady(
  peer: EnginePeer,
  executionId: string,
  workerId: string,
  room: number,
): executionsRpc.TaskLease[] {
  const ready = (peer.tasksOf.get(executionId) ?? []).filter((t) => t.state === 'ready');
  return ready.slice(0, room).map((task) => lease(peer, task, workerId));
}

type Handlers = Partial<RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>>;

function executionsOf(peer: EnginePeer): Handlers {
  const batches = new Set<string>();
  return {
    claimTask: async ({ workerId, taskId, executionId, room }) => {
      await peer.before('claimTask', workerId);
      const named = peer.tasks.get(taskId);
      const held =
        named?.state === 'leased' && named.holder === workerId ? [lease(peer, named, workerId)] : [];
      const first = named?.state === 'ready' ? [lease(peer, named, workerId)] : held;
      return { leases: [...first, ...claimReady(peer, executionId, workerId, room - first.length)] };
    },
    finishTasks: async ({ workerId, outcomes: told, room }) => {
      await peer.before('finishTasks', workerId);
      const executionIds = [...new Set(told.map((o) => o.executionId))];
      const untaken = executionIds.filter((id) => peer.leaves(id));
      const outcomes = told.filter((o) => !untaken.includes(o.executionId));
      const refused: string[] = [];
      const ready: PeerTask[] = [];
      for (const outcome of outcomes) {
        const task = peer.tasks.get(outcome.taskId);
        const isCurrent =
          task?.state === 'leased' && task.holder === workerId && task.attempt === outcome.attempt;
        if (!task || !isCurrent) {
          refused.push(outcome.taskId);
          peer.refused.push({ taskId: outcome.taskId, worker: workerId, attempt: outcome.attempt });
          continue;
        }
        task.outcomes.push(outcome);
        peer.writes.push(`outcome ${outcome.kind}`);
        task.state = outcome.kind === OutcomeKind.OUTCOME_KIND_SUCCEEDED ? 'succeeded' : 'failed';
        for (const next of peer.tasksOf.get(task.executionId) ?? []) {
          if (
            next.state === 'waiting' &&
            next.after.every((id) => peer.tasks.get(id)?.state === 'succeeded')
          ) {
            next.state = 'ready';
            ready.push(next);
          }
        }
      }
      const leases: executionsRpc.TaskLease[] = [];
      for (const id of executionIds.filter((one) => !untaken.includes(one)))
        leases.push(...claimReady(peer, id, workerId, room - leases.length));
      for (const task of ready) if (task.state === 'ready') await peer.announce(task);
      return { refused, leases, untaken };
    },
    heartbeat: async ({ workerId, taskIds }) => {
      await peer.before('heartbeat', workerId);
      peer.beats.set(workerId, (peer.beats.get(workerId) ?? 0) + 1);
      const held = taskIds.filter(
        (id) => peer.tasks.get(id)?.holder === workerId && peer.tasks.get(id)?.state === 'leased',
      );
      for (const id of held)
        (peer.tasks.get(id) as PeerTask).leaseUntil = systemClock.monotonic() + peer.leaseMs;
      return {
        lost: taskIds.filter((id) => !held.includes(id)),
        weights: {},
        kill: held.filter((id) => peer.tasks.get(id)?.isCancelled),
        proofs: Object.fromEntries(
          held.map((id) => [id, peer.leases.prove(heldLease(peer.tasks.get(id)!, workerId), peer.leaseMs)]),
        ),
      };
    },
    submitWork: noCode,
    awaitWork: noCode,
    callFromWorkflow: noCode,
    appendEvents: async ({ batchId, eventsJson, workerId }) => {
      // The events are stored even when `before` makes the answer fail: only the batch id then prevents duplicate lines.
      if (!batches.has(batchId)) {
        peer.events.push(...(JSON.parse(eventsJson) as TaskEvent[]));
        peer.writes.push('events');
      }
      batches.add(batchId);
      await peer.before('appendEvents', workerId);
      return {};
    },
  };
}

function modelOf(peer: EnginePeer): Partial<RpcHandlers<typeof deploymentsRpc.DeploymentsServiceDefinition>> {
  const side = (id: string): string => {
    const found = peer.instances.get(id);
    if (!found) return '';
    const node = {
      id: 'web',
      type: 't',
      type_hierarchy: ['t'],
      properties: { port: 80 },
      number_of_instances: 1,
    };
    const instance = {
      id,
      node_id: 'web',
      host_id: null,
      state: 'creating',
      index: 1,
      system_properties: {},
      relationships: [],
      scaling_groups: [],
      ...found,
    };
    return JSON.stringify({ node, instance });
  };
  return {
    openOperation: async (r) => {
      await peer.before('openOperation', '');
      const inputsJson = r.hasFunctions && peer.evaluated ? JSON.stringify(peer.evaluated) : r.inputsJson;
      return {
        inputsJson,
        selfJson: side(r.nodeInstanceId),
        relatedJson: side(r.relatedInstanceId),
        deploymentJson: '{"id":"dep"}',
        secretsJson: r.hasFunctions ? JSON.stringify(Object.values(peer.secrets)) : '',
      };
    },
    updateNodeInstance: async ({ nodeInstanceId, version, runtimePropertiesJson }) => {
      await peer.before('updateNodeInstance', '');
      const stored = peer.instances.get(nodeInstanceId);
      if (stored?.version !== version) throw new AppError('conflict_error', 'Node instance update conflict');
      peer.writes.push('rp');
      peer.instances.set(nodeInstanceId, {
        version: version + 1,
        runtime_properties: JSON.parse(runtimePropertiesJson) as JsonObject,
      });
      return { version: version + 1 };
    },
  };
}

function filesOf(peer: EnginePeer): Partial<RpcHandlers<typeof catalogRpc.CatalogServiceDefinition>> {
  const blueprint = {
    state: 'uploaded',
    visibility: 'tenant',
    createdBy: 'admin',
    mainFileName: 'b.yaml',
    labelsJson: '[]',
  };
  return {
    ...peer.folders.handlers,
    getBlueprint: async ({ tenant, blueprintId: id }) => {
      await peer.before('getBlueprint', '');
      return {
        ...blueprint,
        id,
        tenant,
        digest: `sha-of-${id}`,
        planJson: '',
      };
    },
    readPlan: async function* () {
      yield { data: Buffer.from('{"namespaces_mapping":{"ns":"imported"}}') };
    },
    listBlueprintFiles: async ({ blueprintId, folder }) => {
      const prefix = `${blueprintId}/${folder}/`;
      const paths = Object.keys(peer.files).filter((path) => path.startsWith(prefix));
      if (paths.length === 0) throw notFound('folder', folder);
      return { paths: paths.map((path) => path.slice(prefix.length)) };
    },
    readBlueprintFile: async function* ({ blueprintId, path }) {
      await peer.before('readBlueprintFile', '');
      const text = peer.files[`${blueprintId}/${path}`];
      if (text === undefined) throw notFound('file', path);
      for (let at = 0; at < text.length; at += 5) yield { data: Buffer.from(text.slice(at, at + 5)) };
    },
  };
}
