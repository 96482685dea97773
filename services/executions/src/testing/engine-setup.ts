import { join } from 'node:path';
import { createPostgresBroker } from '@baton/broker';
import { createLocalCache } from '@baton/cache';
import { deploymentsRpc, executionsRpc, identityRpc, quotaChanged } from '@baton/contracts';
import { newId, notFound, Secret, silentLog, systemClock } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { createLocalRpc, type RpcClient } from '@baton/rpc';
import { type Infra, loadConfig, type ServiceParts, startParts } from '@baton/service-runtime';
import { eventually, testDatabase } from '@baton/testkit';
import { Registry } from 'prom-client';
import { readExecution } from '../executions/store/executions.sql';
import { buildService, composeEngine, configSchema } from '../service';
import type { DB } from '../store/tables.gen';
import { createDeploymentsPeer } from './deployments-peer';

export type EngineClient = RpcClient<typeof executionsRpc.ExecutionsServiceDefinition>;

/** Starts the executions service on its own database, with a deployments peer and without an HTTP port. */
export async function engineSetup(overrides: Record<string, string> = {}) {
  const database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../migrations') }],
  });
  const db: Db<DB> = createDb<DB>({
    url: database.url,
    schema: 'executions',
    applicationName: 'engine-test',
    log: silentLog,
  });
  const broker = createPostgresBroker({ url: database.url, log: silentLog });
  const rpc = createLocalRpc();
  const peer = createDeploymentsPeer();
  /** The limits that identity returns; `limit` changes them. */
  let limits: identityRpc.ListLimitsResponse = { defaults: {}, tenants: {} };
  rpc.serve('deployments', deploymentsRpc.DeploymentsServiceDefinition, peer.handlers);
  rpc.serve('identity', identityRpc.IdentityServiceDefinition, {
    getPrincipal: async ({ username }: { username: string }) => {
      if (!['bob', 'carol'].includes(username)) throw notFound('User', username);
      return { principal: { userId: 7, username }, cacheMs: 0 };
    },
    listLimits: async () => limits,
  } as never);
  const config = loadConfig(configSchema, {
    BATON_INTERNAL_KEY: 'engine-test-internal-key',
    BATON_TASK_RETRIES: '2',
    BATON_TASK_RETRY_INTERVAL: '0.05',
    // A cancelled execution ends at once: most tests have no worker that would end its running operations.
    BATON_CANCEL_GRACE: '0s',
    BATON_HTTP_PORT: '0',
    DATABASE_URL: database.url,
    ...overrides,
  });
  const infra: Infra<DB> = {
    db,
    broker,
    cache: createLocalCache(),
    rpc,
    blobs: undefined as never,
    log: silentLog,
    clock: systemClock,
    instanceId: 'engine-test',
    metrics: new Registry(),
    close: async () => undefined,
  };
  let parts: ServiceParts;
  const start = () => {
    const own = { ...infra, metrics: new Registry() };
    parts = buildService(config, own as Infra);
    return startParts([{ parts, infra: own }], {
      config,
      localRpc: rpc,
      listensHttp: () => false,
      // There is no cluster-status to report to, and a stop would wait for it.
      hasHeartbeat: false,
    });
  };
  let running = await start();
  // A second replica beside the service: commands through it meet the first replica only in the database.
  const second = composeEngine(config, infra as Infra);
  return {
    db,
    broker,
    deps: second.deps,
    peer,
    client: rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions') as EngineClient,
    internalKey: new Secret('engine-test-internal-key'),
    /** Rpc parts of the service that runs now. */
    rpcParts: () => parts.rpc,
    /** Routes of the service that runs now. */
    routes: () => parts.routes,
    /** Sets the limits of tenants in both replicas. */
    async limit(tenants: identityRpc.ListLimitsResponse['tenants']) {
      limits = { defaults: {}, tenants };
      const heard = parts.subscriptions.find(({ message }) => message === quotaChanged)!;
      await Promise.all([second.limits.refresh(), heard.handler(undefined as never)]);
    },
    /** Restarts the service; it then knows only the stored data. */
    async restart() {
      await running.stop();
      running = await start();
    },
    async stop() {
      second.wake.stop();
      await running.stop();
      await broker.close();
      await db.close();
      await database.drop();
    },
  };
}

export type EngineSetup = Awaited<ReturnType<typeof engineSetup>>;

const DEADLINE = { deadlineMs: 15_000 };

/** Returns helpers that start, read and end executions. `engine` returns the engine, which tests start in a hook. */
export function drive(engine: () => EngineSetup) {
  const row = async (id: string) => (await readExecution(engine().db.query, id))!;
  return {
    row,
    /** Starts an execution; returns its id. */
    async begin(deploymentId: string, workflowId: string, more: object = {}): Promise<string> {
      const { executionId } = await engine().client.startExecution({
        tenant: 'default_tenant',
        requestId: newId(),
        createdBy: 'admin',
        deploymentId,
        workflowId,
        parametersJson: '{}',
        ...more,
      });
      return executionId;
    },
    async phaseIs(id: string, phase: string): Promise<void> {
      await eventually(async () => expect((await row(id)).phase).toBe(phase), DEADLINE);
    },
    /** Works as `workerId` until the execution has ended; returns the operations that it ran, in order. */
    async workToEnd(id: string, probe?: Probe, workerId = 'w1'): Promise<string[]> {
      const ran: string[] = [];
      await eventually(async () => {
        ran.push(...(await work(engine().client, id, workerId, probe)));
        expect((await row(id)).phase).toBe('ended');
      }, DEADLINE);
      return ran;
    },
  };
}

/** Outcome that a test worker gives to an operation. */
export type Probe = (run: {
  operation: string;
  instance: string;
  attempt: number;
  retry: number;
}) => Partial<executionsRpc.TaskOutcome>;

const SUCCEEDED: Partial<executionsRpc.TaskOutcome> = {
  kind: executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED,
  resultJson: 'null',
};
export const succeed: Probe = () => SUCCEEDED;

/**
 * Claims and finishes operations of an execution until it has none for this worker; returns the operations that it ran, in order.
 */
export async function work(
  client: EngineClient,
  executionId: string,
  workerId: string,
  probe: Probe = succeed,
  room = 8,
): Promise<string[]> {
  const ran: string[] = [];
  let { leases } = await client.claimTask({ workerId, executionId, taskId: '', room });
  while (leases.length > 0) {
    const outcomes = leases.map((lease) => {
      const assignment = JSON.parse(lease.assignmentJson) as {
        operation: string;
        self: { nodeInstanceId: string };
        retryNumber: number;
      };
      const operation = assignment.operation.split('.').at(-1)!;
      const instance = assignment.self.nodeInstanceId;
      ran.push(`${operation} ${instance}`);
      const outcome = probe({ operation, instance, attempt: lease.attempt, retry: assignment.retryNumber });
      return { taskId: lease.taskId, executionId, attempt: lease.attempt, retryAfter: -1, ...outcome };
    });
    ({ leases } = await client.finishTasks({ workerId, outcomes, room }));
  }
  return ran;
}
