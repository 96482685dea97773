import { hostname } from 'node:os';
import {
  agentRevoked,
  blueprintDeleted,
  configChanged,
  deploymentCreated,
  deploymentDeleted,
  executionFinished,
  executionRequested,
  executionsRpc,
  groupDeploymentsCreated,
  uploadEnded,
  workersRpc,
} from '@baton/contracts';
import { chooseWire } from '@baton/http';
import { createImportPart } from '@baton/import-part';
import { Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { createUserLookup, type RpcHandlers } from '@baton/rpc';
import {
  type ConsumerPart,
  consumerPart,
  createTenantLimits,
  type Infra,
  requireDb,
  requireTrust,
  rpcPart,
  type ServiceParts,
  subscriptionPart,
} from '@baton/service-runtime';
import { createSnapshotPart, createTenantPart } from '@baton/snapshot-part';
import { createLeaseProofs, derivedJoinToken } from '@baton/trust';
import { createCatalogClient } from './adapters/catalog.client';
import { createDeploymentsClient } from './adapters/deployments.client';
import { createChangeRings } from './changes/change-rings';
import { createChangesHub } from './changes/changes-hub';
import { changesHttp } from './changes/http/changes.routes';
import { onChanges } from './changes/messages/on-changes';
import { rememberedOwners } from './changes/remembered-owners';
import { configSchema, type ExecutionsConfig } from './config';
import { createDoctorParts, type DoctorPart } from './doctor/adapters/doctor-parts';
import { doctorHttp } from './doctor/http/doctor.routes';
import { systemExecutionsHandlers } from './doctor/rpc/system-executions.rpc';
import { createWorkflowConfig, type WorkflowConfigSource } from './engine/adapters/workflow-config';
import { afterEnds } from './engine/commands/after-ends';
import { deliverStates, forgetDelivered } from './engine/commands/deliver-states';
import { driveExecution } from './engine/commands/drive-execution';
import { takeFromAgent } from './engine/commands/take-from-agent';
import { tellManyEnds } from './engine/commands/tell-owed-ends';
import { wakeExecution } from './engine/commands/wake-executions';
import { engineLoops } from './engine/loops/engine.loops';
import { onExecutionFinished } from './engine/messages/on-execution-finished';
import { onExecutionRequested } from './engine/messages/on-execution-requested';
import type { EnginePorts } from './engine/ports';
import { workHandlers } from './engine/rpc/work.rpc';
import { createGraphMemory } from './engine/steps/graph-memory';
import { createStepWriter } from './engine/steps/step-writer';
import { createWakes } from './engine/wakes';
import { makeMonths } from './events/commands/keep-events';
import { eventsRoutes } from './events/http/events.routes';
import { eventLoops } from './events/loops/events.loops';
import { createStreamHub } from './events/stream-hub';
import { createAcceptedRows } from './executions/accepted-rows';
import { createAcceptor } from './executions/acceptor';
import { createQueueConfig } from './executions/adapters/queue-config';
import { dequeueExecutions } from './executions/commands/dequeue-executions';
import { createMaintenanceSwitch } from './executions/domain/maintenance';
import type { RefusalTexts } from './executions/domain/refusal-texts';
import { executionsRoutes } from './executions/http/executions.routes';
import { onBlueprintDeleted } from './executions/messages/on-blueprint-deleted';
import { onDeploymentCreated } from './executions/messages/on-deployment-created';
import { onDeploymentDeleted } from './executions/messages/on-deployment-deleted';
import { onUploadEnded } from './executions/messages/on-upload-ended';
import { newPassedOver } from './executions/passed-over';
import { executionsHandlers } from './executions/rpc/executions.rpc';
import { createTurns } from './executions/turns';
import { operationsRoutes } from './foreign-operations/http/operations.routes';
import { recordGroupCreation } from './groups/commands/record-group';
import { executionGroupsHttp } from './groups/http/execution-groups.routes';
import { executionGroupsHandlers } from './groups/rpc/execution-groups.rpc';
import { importTables } from './imports/import-tables';
import type { QueueRules, Wakes } from './ports';
import { schedulesRoutes } from './schedules/http/schedules.routes';
import { scheduleLoops } from './schedules/loops/schedules.loops';
import { schedulesHandlers } from './schedules/rpc/schedules.rpc';
import { snapshotTables } from './store/snapshot-tables';
import type { DB } from './store/tables.gen';
import { webhookLoops } from './webhooks/loops/webhooks.loops';
import { onWebhookInterestChanged } from './webhooks/messages/on-webhook-interest-changed';
import { cloudifyWire, specWire, type WirePolicy } from './wire-policy';
import { workersHttp } from './workers/http/workers.routes';
import { forGoodWorkers } from './workers/rpc/for-good-workers';
import { workersRpcHandlers } from './workers/rpc/workers.rpc';
import { createWorkerRegistry, type WorkerRegistry } from './workers/worker-registry';

export { configSchema };
export const serviceName = 'executions' as const;

/** Builds the engine of one replica: its in-memory state, its wake-ups and their handlers. */
export function composeEngine(config: ExecutionsConfig, infra: Infra) {
  const db = requireDb<DB>(infra);
  const hub = createStreamHub();
  const rings = createChangeRings();
  const wake = createWakes(infra, () => ({
    drive: (id) => driveExecution(deps, id),
    deliver: (ids) => deliverStates(deps, ids),
    settle: (id) => forgetDelivered(deps, id),
    due: (id) => wakeExecution(deps, id),
    dequeue: async () => void (await dequeueExecutions(deps)),
    ended: (ids) => afterEnds(deps, ids),
    streams: (id, hasStates) => {
      hub.notify(id);
      changes.moved([id], hasStates);
    },
  }));
  // Called after transactions whose store functions noted that an execution has moved.
  db.onCommitNotes((ids) => ids.forEach(wake.events));
  const workflowConfig = workflowConfigOf(config, infra);
  const queueConfig = createQueueConfig(infra.rpc);
  const maintenance = createMaintenanceSwitch(() => wake.dequeue());
  // With a changed limit, more executions may run at once, or must wait.
  const limits = createTenantLimits(infra.rpc, () => wake.dequeue());
  const queue: QueueRules = {
    isPaused: maintenance.isActive,
    maxConcurrent: queueConfig.maxConcurrent,
    quota: (tenant) => {
      const { runningExecutions: running, queuedExecutions: queued } = limits.of(tenant);
      return { running, queued };
    },
    isRunningLimited: () => limits.isAnySet('runningExecutions'),
    weights: limits.weights,
  };
  const wire = chooseWire(config.BATON_WIRE, { spec: specWire, cloudify: cloudifyWire });
  const { texts } = wire.executions;
  const deps = engineDeps(config, infra, db, { wake, workflowConfig, queue, texts });
  const owners = rememberedOwners(deps.deployments.owner, () => infra.clock.now());
  const changes = createChangesHub({ db, rings, owners, log: infra.log });
  return { db, hub, rings, changes, wake, deps, wire, workflowConfig, queueConfig, maintenance, limits };
}

/** Composes the executions service. */
export function buildService(config: ExecutionsConfig, infra: Infra): ServiceParts {
  const engine = composeEngine(config, infra);
  const { db, hub, rings, changes, wake, deps, wire, workflowConfig, queueConfig, maintenance, limits } =
    engine;
  const registry = createWorkerRegistry(db);
  const managerName = config.BATON_MANAGER_NAME ?? hostname();
  const doctorParts = createDoctorParts(infra.rpc);
  const readConfig = async (): Promise<void> => {
    await Promise.all([workflowConfig.refresh(), queueConfig.refresh()]);
    // With the new configuration, more executions may run at once.
    wake.dequeue();
  };
  return {
    name: serviceName,
    routes: [
      ...executionsRoutes(deps, wire),
      ...executionGroupsHttp(deps, wire.groups),
      ...schedulesRoutes({ ...deps, wire: wire.schedules }),
      ...doctorHttp(deps, doctorParts),
      ...workersHttp(deps, registry),
      ...operationsRoutes({ db, wire: wire.operations, managerName, engine: deps }),
      ...eventsRoutes({ db, hub, wire: wire.events, managerName, engine: deps }),
      ...changesHttp({ db, rings }),
    ],
    rpc: rpcOf(config, infra, engine, { registry, doctorParts }),
    consumers: consumersOf(wire, deps),
    subscriptions: [
      ...onChanges(changes, hub.notify),
      subscriptionPart(configChanged, readConfig),
      limits.subscription,
    ],
    loops: [
      { name: 'revoked-workers', intervalMs: 1_000, tickOnce: () => registry.refresh() },
      limits.loop,
      ...engineLoops(deps),
      ...eventLoops(db, { retentionDays: config.BATON_EVENT_RETENTION_DAYS }),
      ...webhookLoops(deps),
      ...scheduleLoops(deps, { keepOccurrencesDays: config.BATON_SCHEDULE_HISTORY_DAYS }),
    ],
    checks: { database: () => db.ping() },
    // Runs before the first events: events of a month without a partition go to events_rest, and the month then stays there.
    start: async () => {
      await makeMonths(db).catch((err: unknown) => {
        infra.log.warn({ err }, 'partitions of events could not be made yet; the loop keep-events does it');
      });
      wake.begin();
    },
    stop: async () => {
      wake.stop();
      changes.stop();
    },
    onMaintenance: (state) => {
      // A restored snapshot replaces all data at once, so readers of changes must read everything again.
      if (maintenance.learn(state)) changes.lost();
    },
    onConfig: readConfig,
  };
}

/** The RPC parts that workers and other services call. */
function rpcOf(
  config: ExecutionsConfig,
  infra: Infra,
  { db, hub, deps }: ReturnType<typeof composeEngine>,
  { registry, doctorParts }: { registry: WorkerRegistry; doctorParts: readonly DoctorPart[] },
): ServiceParts['rpc'] {
  const handlers: RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition> = {
    ...workHandlers(deps, { hub, nowMs: () => infra.clock.now() }),
    ...executionsHandlers(deps),
    ...executionGroupsHandlers(deps),
    ...schedulesHandlers(deps),
  };
  return [
    rpcPart(executionsRpc.ExecutionsServiceDefinition, forGoodWorkers(handlers, registry)),
    rpcPart(
      workersRpc.WorkersServiceDefinition,
      workersRpcHandlers({
        db,
        registry,
        joinToken: config.BATON_WORKER_JOIN_TOKEN ?? new Secret(derivedJoinToken(config.BATON_INTERNAL_KEY)),
        identity: () => requireTrust(infra).identity,
      }),
    ),
    rpcPart(executionsRpc.SystemExecutionsServiceDefinition, systemExecutionsHandlers(deps, doctorParts)),
    createSnapshotPart({ db, schema: 'executions', tables: snapshotTables, log: infra.log }),
    createImportPart({ db, tables: importTables, log: infra.log, applied: () => tellManyEnds(deps) }),
    createTenantPart({ db, schema: 'executions' }),
  ];
}

/** Consumers of messages from this and other services that change the data of this service. */
function consumersOf({ executions: wire }: WirePolicy, deps: EnginePorts): ConsumerPart[] {
  return [
    consumerPart(executionRequested, {
      queue: serviceName,
      prefetch: 16,
      handler: onExecutionRequested(deps),
    }),
    consumerPart(executionFinished, {
      queue: serviceName,
      prefetch: 16,
      handler: onExecutionFinished(deps, wire),
    }),
    consumerPart(deploymentCreated, {
      queue: serviceName,
      prefetch: 8,
      handler: onDeploymentCreated(deps),
    }),
    consumerPart(groupDeploymentsCreated, {
      queue: serviceName,
      prefetch: 4,
      handler: async ({ tenant, payload }) => recordGroupCreation(deps, tenant, payload),
    }),
    consumerPart(uploadEnded, {
      queue: serviceName,
      prefetch: 8,
      handler: onUploadEnded(deps, wire),
    }),
    consumerPart(blueprintDeleted, {
      queue: serviceName,
      prefetch: 8,
      handler: onBlueprintDeleted(deps),
    }),
    consumerPart(deploymentDeleted, {
      queue: serviceName,
      prefetch: 4,
      handler: onDeploymentDeleted({ db: deps.db, wire }),
    }),
    consumerPart(agentRevoked, {
      queue: serviceName,
      prefetch: 4,
      handler: ({ payload }) => takeFromAgent(deps, payload),
    }),
    onWebhookInterestChanged(deps),
  ];
}

function workflowConfigOf(config: ExecutionsConfig, infra: Infra): WorkflowConfigSource {
  return createWorkflowConfig(infra.rpc, {
    taskRetries: config.BATON_TASK_RETRIES,
    taskRetryIntervalMs: config.BATON_TASK_RETRY_INTERVAL * 1000,
    subgraphRetries: config.BATON_SUBGRAPH_RETRIES,
  });
}

function engineDeps(
  config: ExecutionsConfig,
  infra: Infra,
  db: Db<DB>,
  parts: { wake: Wakes; workflowConfig: WorkflowConfigSource; queue: QueueRules; texts: RefusalTexts },
): EnginePorts & { nowMs(): number } {
  const accepted = createAcceptedRows();
  return {
    db,
    memory: createGraphMemory(accepted),
    turns: createTurns(),
    accepted,
    acceptor: createAcceptor(db),
    steps: createStepWriter(db),
    deployments: createDeploymentsClient(infra.rpc),
    catalog: createCatalogClient(infra.rpc),
    findUser: createUserLookup(infra.rpc),
    wake: parts.wake,
    queue: parts.queue,
    texts: parts.texts,
    passedOver: newPassedOver(),
    cancelGraceMs: config.BATON_CANCEL_GRACE,
    agents: { leaseMs: config.BATON_AGENT_GRACE, waitMs: config.BATON_AGENT_WAIT },
    tokenKey: config.BATON_INTERNAL_KEY.expose(),
    leases: createLeaseProofs(config.BATON_INTERNAL_KEY, infra.clock),
    get workflowConfig() {
      return parts.workflowConfig.current();
    },
    log: infra.log,
    nowMs: () => infra.clock.now(),
  };
}
