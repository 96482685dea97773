import { join } from 'node:path';
import { executionAccepted } from '@baton/contracts';
import { isAppError, newId, silentLog } from '@baton/kernel';
import { createDb, type Db, outgoing, unsent } from '@baton/postgres';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { sql } from 'kysely';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { roomyQueue } from '../../testing/roomy-queue';
import { startRequest } from '../../testing/start-request';
import { createAcceptedRows } from '../accepted-rows';
import { createAcceptor } from '../acceptor';
import { acceptAtOnce, requestExecutionInTx, requestedRow } from '../commands/request-execution';
import type { StartSubject } from '../commands/start-subject';
import { acceptExecutions } from '../store/accept.sql';
import { specTexts } from './refusal-texts';
import { payloadHash, type StartRequest } from './start-request';

/**
 * Compares the fast path (one statement that locks, reads and inserts: migration 0200, store/accept.sql.ts) with the decision of
 * domain/admission.ts, in every state. The fast path accepts only starts that the decision admits, with the same row, and leaves
 * the cases that it cannot judge to the decision. Both run on a real database.
 */

let database: TestDatabase;
let db: Db<DB>;
beforeAll(async () => {
  database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../../migrations') }],
  });
  db = createDb<DB>({
    url: database.url,
    schema: 'executions',
    applicationName: 'admission',
    log: silentLog,
  });
}, 60_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

interface Seed {
  status: string;
  phase: string;
  deployment?: string | null;
  workflow?: string;
  isSystem?: boolean;
  hasLeftRuns?: boolean;
  group?: string;
}

async function insert(tenant: string, seed: Seed): Promise<string> {
  const { deployment = 'd', workflow = 'install', isSystem = false, hasLeftRuns = false } = seed;
  const id = newId();
  await sql`insert into executions (id, tenant, request_id, payload_hash, workflow_id, deployment_id, visibility, created_by,
      status, phase, token_hash, is_system_workflow, has_left_runs, execution_group_id)
    values (${id}, ${tenant}, ${id}, '', ${workflow}, ${deployment}, 'tenant', 'admin', ${seed.status}, ${seed.phase}, ${id},
      ${isSystem}, ${hasLeftRuns}, ${seed.group ?? null})`.execute(db.query);
  return id;
}

/** Inserts an ended execution with an operation that a worker still runs; `isStopping`: the worker was told to stop it. */
async function leftRun(tenant: string, isStopping: boolean): Promise<void> {
  const id = await insert(tenant, { status: 'failed', phase: 'ended', hasLeftRuns: true });
  const graph = newId();
  await sql`insert into tasks_graphs (id, execution_id, name, wait_after_fail_ms, is_dry_run, flags)
    values (${graph}, ${id}, 'install', 0, false, '{}')`.execute(db.query);
  await sql`insert into tasks (id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, worker_id, lease_until,
      is_kill_requested, version)
    values (${newId()}, ${graph}, ${id}, 0, '{"payload": {}}', 'started', 1, 0, 0, 'w', app_now() + interval '1 hour', ${isStopping}, 1)`.execute(
    db.query,
  );
}

const one = (seed: Seed) => (tenant: string) => insert(tenant, seed);

/** Present executions of the deployment. */
const deployments: Record<string, (tenant: string) => Promise<unknown>> = {
  nothing: async () => undefined,
  'planned just now': one({ status: 'pending', phase: 'planning' }),
  running: one({ status: 'started', phase: 'running' }),
  calling: one({ status: 'started', phase: 'calling' }),
  'awaiting others': one({ status: 'started', phase: 'awaiting' }),
  ending: one({ status: 'cancelling', phase: 'ending' }),
  queued: one({ status: 'queued', phase: 'waiting' }),
  'a queued member of a group': one({ status: 'queued', phase: 'waiting', group: 'g' }),
  'scheduled for later': one({ status: 'scheduled', phase: 'waiting' }),
  ended: one({ status: 'terminated', phase: 'ended' }),
  'ended, a worker still runs of it': (tenant) => leftRun(tenant, false),
  'ended, what a worker runs of it is being stopped': (tenant) => leftRun(tenant, true),
  'ended, a mark of what a worker has left': one({ status: 'failed', phase: 'ended', hasLeftRuns: true }),
  'running of another tenant': (tenant) => insert(`${tenant}-other`, { status: 'started', phase: 'running' }),
};

const system = (workflow: string, status: string, phase: string) =>
  one({ status, phase, workflow, isSystem: true, deployment: null });

/** Present system executions of the manager. */
const systems: Record<string, (tenant: string) => Promise<unknown>> = {
  nothing: async () => undefined,
  'system-wide at work': system('restore_snapshot', 'started', 'running'),
  'system-wide in the queue': system('restore_snapshot', 'queued', 'waiting'),
  'system-wide that has ended': system('restore_snapshot', 'terminated', 'ended'),
  'a snapshot beside everything': system('create_snapshot', 'started', 'running'),
};

/** Limit of the tenant's executions at work. On another deployment, `isReached`: one is at work, `isTaken`: one is queued. */
const quotas: Record<string, { running: number | null; isReached?: boolean; isTaken?: boolean }> = {
  none: { running: null },
  free: { running: 5 },
  reached: { running: 1, isReached: true },
  'taken by one in the queue': { running: 1, isTaken: true },
  'nothing may run': { running: 0 },
};

const BOTH = [false, true];
const requests: Partial<StartRequest>[] = BOTH.flatMap((isForced) =>
  BOTH.flatMap((mayQueue) =>
    BOTH.flatMap((isDryRun) =>
      BOTH.map((isSystemWorkflow) => ({ isForced, mayQueue, isDryRun, isSystemWorkflow })),
    ),
  ),
);

const subject: StartSubject = {
  blueprintId: 'b',
  displayName: 'D',
  visibility: 'private',
  madeBy: 'x',
  program: 'install',
  parameters: { a: [1, null] },
  isCascading: false,
};

class Undone extends Error {}

/** Returns the result of the decision: the row, or the code of the refusal. The transaction is rolled back. */
async function decided(deps: Deps, request: StartRequest): Promise<ExecutionRow | string> {
  let row: ExecutionRow | null = null;
  try {
    await db.tx(async (tx) => {
      row = await requestExecutionInTx(tx, deps, request, subject, payloadHash(request));
      throw new Undone();
    });
  } catch (error) {
    if (isAppError(error)) return error.code;
    if (!(error instanceof Undone)) throw error;
  }
  return row!;
}

async function acceptedAtOnce(deps: Deps, request: StartRequest): Promise<ExecutionRow | null> {
  const row = await acceptAtOnce(deps, request, subject, payloadHash(request));
  if (row) await sql`delete from executions where id = ${row.id}`.execute(db.query);
  return row;
}

const depsOf = (running: number | null, isPaused: boolean) => ({
  acceptor: createAcceptor(db),
  accepted: createAcceptedRows(),
  tokenKey: 'key',
  texts: specTexts,
  queue: { ...roomyQueue(), quota: () => ({ running, queued: null }), isPaused: () => isPaused },
});
type Deps = ReturnType<typeof depsOf>;

/** Returns the columns that both ways write with the same values. */
const contentOf = ({
  id: _i,
  created_at: _c,
  token_hash: _t,
  ...row
}: ExecutionRow & { now_ms?: number }) => {
  const { now_ms: _n, ...content } = row;
  return content;
};

const BLOCKS_NOT = ['nothing', 'ended', 'running of another tenant'];
const STOPS_NOT = ['nothing', 'system-wide that has ended', 'a snapshot beside everything'];
/** States in which the decision may start an execution but the fast path may not: it cannot tell them from blocking states. */
const LEFT_TO_DECIDE = ['scheduled for later', 'ended, a mark of what a worker has left'];

let tenants = 0;

describe.each(Object.keys(systems))('of the manager: %s', (wide) => {
  describe.each(Object.keys(quotas))('quota: %s', (name) => {
    test.each(Object.keys(deployments))('on the deployment: %s', async (there) => {
      const tenant = `t${++tenants}`;
      const quota = quotas[name]!;
      await deployments[there]!(tenant);
      await systems[wide]!('of-the-manager');
      if (quota.isReached)
        await insert(tenant, { status: 'started', phase: 'running', deployment: 'elsewhere' });
      if (quota.isTaken)
        await insert(tenant, { status: 'queued', phase: 'waiting', deployment: 'elsewhere' });
      try {
        for (const asked of requests) {
          // Neither way checks for maintenance, which holds up only the queue.
          const isPaused = Object.values(asked).filter((is) => is).length % 2 === 1;
          const deps = depsOf(quota.running, isPaused);
          const request = startRequest('d', { tenant, workflowId: 'install', ...asked });
          const decision = await decided(deps, request);
          const fast = await acceptedAtOnce(deps, request);
          const isStarted = typeof decision !== 'string' && decision.status === 'pending';
          if (fast) expect(contentOf(fast)).toEqual(contentOf(decision as ExecutionRow));
          else if (isStarted) expect(asked.isForced || LEFT_TO_DECIDE.includes(there)).toBe(true);
          const hasRoom = asked.isSystemWorkflow || name === 'none' || name === 'free';
          const isFree = BLOCKS_NOT.includes(there) && STOPS_NOT.includes(wide) && hasRoom;
          expect([asked, fast !== null]).toEqual([asked, isFree]);
        }
      } finally {
        await sql`delete from executions where deployment_id is null`.execute(db.query);
      }
    });
  });
});

test('of starts in one statement the first of a deployment is looked at, and a quota counts those before', async () => {
  const deps = depsOf(2, false);
  const starts = ['a', 'a', 'b', 'c'].map((deploymentId) => {
    const request = startRequest(deploymentId, { tenant: 'together' });
    const id = newId();
    const begin = { status: 'pending', phase: 'planning', scheduled_for: null, wake_at: null } as const;
    const row = { ...requestedRow(deps, request, subject, id), payload_hash: '', ...begin };
    const about = { tenant: 'together', key: id };
    const message = outgoing(executionAccepted, about, { executionId: id, workflowId: 'install' });
    return { row, messages: [unsent(message)], maxRunning: 2 };
  });
  const accepted = await acceptExecutions(db, starts);
  expect(accepted.map((row) => row.deployment_id).sort()).toEqual(['a', 'b']);
  const ids = accepted.map(({ id }) => id).sort();
  const { rows: stored } = await sql<{
    id: string;
  }>`select id from executions where tenant = 'together'`.execute(db.query);
  expect(stored.map(({ id }) => id).sort()).toEqual(ids);
  const { rows: told } = await sql<{ id: string; at: string }>`
    select envelope->'payload'->>'executionId' as id, envelope->>'time' as at from outbox
    where envelope->>'tenant' = 'together'`.execute(db.query);
  expect(told.map(({ id }) => id).sort()).toEqual(ids);
  for (const { id, at } of told) expect(at).toBe(accepted.find((row) => row.id === id)!.created_at);
});
