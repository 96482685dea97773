import { randomUUID } from 'node:crypto';
import type { LedgerRun } from '../ledger';
import type { Asked, Load } from '../load';
import type { Rig } from '../rig';
import { CONNECTIONS, ENGINES, WORKERS } from '../rig';
import { type Row, type RowContext, rateOf, type Struck, type Traffic, underLoad } from '../row';
import { pause, until } from '../until';
import { lateResult } from './late-result';

const LEASE_MS = 15_000;
/** Lease + 5 s: the limit of the matrix. */
const REDISPATCH_MS = LEASE_MS + 5_000;

/** Picks a worker with running operations. */
async function busyWorker(
  rig: Rig,
  prefer: string,
): Promise<{ name: string; pid: number; held: LedgerRun[] }> {
  const names = [prefer, ...WORKERS.filter((name) => name !== prefer)];
  return await until(
    'a worker with an operation under way',
    30_000,
    () => {
      const runs = rig.ledger.inFlight();
      for (const name of names) {
        const pid = rig.process(name).pid()!;
        const held = runs.filter((run) => run.pid === pid);
        if (held.length > 0) return { name, pid, held };
      }
      return null;
    },
    10,
  );
}

/** Returns the worker with the most running operations. */
function busiestWorker(rig: Rig): { name: string; pid: number } {
  const runs = rig.ledger.inFlight();
  const held = (pid: number): number => runs.filter((run) => run.pid === pid).length;
  return WORKERS.map((name) => ({ name, pid: rig.process(name).pid()! })).sort(
    (a, b) => held(b.pid) - held(a.pid),
  )[0]!;
}

/** Waits until the lost runs of a worker have begun again elsewhere. Returns the slowest start, in ms after `since`. */
async function redispatched(rig: Rig, lost: readonly LedgerRun[], since: number): Promise<number> {
  const times = await until(`${lost.length} lost operations begun again`, REDISPATCH_MS + 15_000, () => {
    const runs = rig.ledger.runs();
    const again = lost.map((run) =>
      runs.find((other) => other.task === run.task && other.run !== run.run && other.startedAt > since),
    );
    return again.every((run) => run !== undefined) ? again.map((run) => run!.startedAt - since) : null;
  });
  return Math.max(...times);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const tooLate = (ms: number): string[] =>
  ms > REDISPATCH_MS ? [`dispatched again after ${seconds(ms)}, allowed ${seconds(REDISPATCH_MS)}`] : [];

/** Number of running operations when the worker is killed: the matrix requires a hundred. */
const FLEET_IN_FLIGHT = 100;

export const workerRows: Row[] = [
  {
    id: 'F3',
    title: 'a worker is killed with kill -9 with 100 operations under way in the fleet',
    pass: 'its operations begin elsewhere within 20 s (lease + 5 s); only its runs are repeated, each once',
    limitS: 120,
    run: (at) => underLoad(at, (load) => killOne(at, load)),
  },
  {
    id: 'F4',
    limitS: 120,
    title: 'a worker is stopped past its lease (SIGSTOP) and goes on (SIGCONT)',
    pass: 'its operations begin elsewhere within 20 s; its late results are refused; nothing it did is stored',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random } = at;
        const victim = await busyWorker(rig, random.pick(WORKERS));
        const stoppedAt = Date.now();
        rig.process(victim.name).signal('SIGSTOP');
        await pause(50);
        const lost = rig.ledger.inFlight().filter((run) => run.pid === victim.pid);
        const stale = await leasesOf(rig, lost);
        const ms = await redispatched(rig, lost, stoppedAt).finally(() =>
          rig.process(victim.name).signal('SIGCONT'),
        );
        const continuedAt = Date.now();
        const refusal = await lateResult(rig, stale);
        await until('the stopped worker heard again', 30_000, async () => {
          const rows = await rig.sql(
            `select 1 from executions.workers
             where (about->>'pid')::int = $1 and last_seen > to_timestamp($2::float8 / 1000)`,
            [victim.pid, continuedAt],
          );
          return rows.length > 0;
        });
        // Its operations run to their ends (they ignore the lost lease) or fail because of it.
        await pause(3_000);
        const zombies = rig.ledger
          .runs()
          .filter((run) => lost.some((one) => one.run === run.run) && run.endedAt !== null);
        return {
          facts: {
            lost: lost.length,
            'ended as zombies': zombies.length,
            'again after': seconds(ms),
            'late results refused': `${refusal.refused} of ${refusal.sent}`,
          },
          violations: [
            ...tooLate(ms),
            ...(lost.length === 0 ? ['floor: the stopped worker held nothing'] : []),
            ...(refusal.refused < refusal.sent
              ? [`G4: ${refusal.sent - refusal.refused} late results were accepted`]
              : []),
            ...refusal.violations,
          ],
          judge: { victims: [victim.pid] },
        };
      }),
  },
  {
    id: 'F5',
    limitS: 120,
    title: 'a worker dies between the effect of an operation and its report',
    pass: 'the operation runs again and the execution ends; only its runs are repeated',
    run: (at) =>
      underLoad(at, async () => {
        const { rig } = at;
        const pids = new Map(WORKERS.map((name) => [rig.process(name).pid()!, name]));
        rig.ledger.order('die-before-report');
        const name = await until(
          'a worker that died of the order',
          30_000,
          () => {
            const dead = WORKERS.find((one) => rig.process(one).pid() === null);
            return dead ?? null;
          },
          10,
        );
        const pid = [...pids].find(([, one]) => one === name)![0];
        const diedAt = Date.now();
        await rig.kill(name);
        // The order was carried out after the end was written to the ledger: that run ended but was never reported.
        const last = rig.ledger
          .runs()
          .filter((run) => run.pid === pid && run.endedAt !== null)
          .sort((a, b) => a.endedAt! - b.endedAt!)
          .at(-1)!;
        const ms = await redispatched(rig, [last], diedAt - 50);
        return { facts: { 'again after': seconds(ms) }, violations: tooLate(ms), judge: { victims: [pid] } };
      }),
  },
  {
    id: 'F7',
    title: 'all workers are killed with hundreds of operations queued, and start together',
    pass: 'lost operations begin again within 20 s, throughput is back to 90 % within 30 s, connections stay within their pools',
    limitS: 150,
    run: (at) => underLoad(at, (load, before) => restartStorm(at, load, before)),
  },
];

/** Starts an execution of many operations beside the lanes; it is judged together with them. */
async function startWide(rig: Rig, load: Load, count: number): Promise<Asked> {
  const blueprint = { blueprint: 'wide' as const, inputs: { count } };
  const [deployment] = await rig.deployments(`wide-${randomUUID().slice(0, 8)}`, 1, blueprint);
  return await load.add(deployment!, 'install');
}

async function killOne({ rig }: RowContext, load: Load): Promise<Struck> {
  await startWide(rig, load, 150);
  const inFlight = await until(
    `floor: ${FLEET_IN_FLIGHT} operations under way`,
    30_000,
    () => {
      const count = rig.ledger.inFlight().length;
      return count >= FLEET_IN_FLIGHT ? count : null;
    },
    20,
  );
  const victim = busiestWorker(rig);
  const killedAt = Date.now();
  await rig.kill(victim.name);
  const lost = rig.ledger.inFlight().filter((run) => run.pid === victim.pid);
  const ms = lost.length === 0 ? 0 : await redispatched(rig, lost, killedAt);
  const repeated =
    load.runs().filter((run) => lost.some((one) => one.task === run.task)).length - lost.length;
  return {
    facts: { 'under way': inFlight, lost: lost.length, 'again after': seconds(ms) },
    violations: [
      ...(lost.length < FLEET_IN_FLIGHT / WORKERS.length / 2
        ? [`floor: the killed worker held ${lost.length} operations`]
        : tooLate(ms)),
      ...(repeated > lost.length ? [`F3: ${repeated} repetitions for ${lost.length} lost operations`] : []),
    ],
    judge: { victims: [victim.pid] },
  };
}

const STORM = { queued: 250, backMs: 30_000, share: 0.9, windowMs: 5_000 };

async function restartStorm({ rig }: RowContext, load: Load, before: Traffic): Promise<Struck> {
  await startWide(rig, load, STORM.queued);
  await until('the queue filled', 20_000, () => rig.ledger.inFlight().length >= FLEET_IN_FLIGHT);
  const killedAt = Date.now();
  const victims = await Promise.all(WORKERS.map((name) => rig.kill(name)));
  const lost = load.runs().filter((run) => run.endedAt === null);
  await rig.heal();
  const startedAt = Date.now();
  let mostConnections = 0;
  const wanted = before.perS * STORM.share;
  const backAfter = await until('throughput as before', STORM.backMs + 15_000, async () => {
    const [row] = await rig.sql<{ n: number }>(
      `select max(n)::int as n from (select count(*) as n from pg_stat_activity
       where datname = current_database() and application_name like 'baton%' group by application_name) one`,
    );
    mostConnections = Math.max(mostConnections, row?.n ?? 0);
    const now = Date.now();
    return rateOf(load.runs(), Math.max(startedAt, now - STORM.windowMs), now) >= wanted
      ? now - startedAt
      : null;
  });
  const ms = lost.length === 0 ? 0 : await redispatched(rig, lost, killedAt);
  return {
    facts: {
      lost: lost.length,
      'again after': seconds(ms),
      'throughput back after': seconds(backAfter),
      'most connections of a service': mostConnections,
    },
    violations: [
      ...tooLate(ms),
      ...(mostConnections > CONNECTIONS * ENGINES.length
        ? [
            `F7: ${mostConnections} connections of one service, its pools have ${CONNECTIONS * ENGINES.length}`,
          ]
        : []),
      ...(backAfter > STORM.backMs
        ? [`F7: throughput was back after ${seconds(backAfter)}, allowed 30 s`]
        : []),
    ],
    judge: { victims },
  };
}

export interface StaleLease {
  task: string;
  execution: string;
  worker: string;
  attempt: number;
}

/** Returns the current holders of these runs, according to the engine. */
async function leasesOf(rig: Rig, runs: readonly LedgerRun[]): Promise<StaleLease[]> {
  return await rig.sql<StaleLease>(
    `select id as task, execution_id as execution, worker_id as worker, attempt from executions.tasks
     where id = any($1::uuid[]) and worker_id is not null`,
    [runs.map((run) => run.task)],
  );
}
