import type { Load } from '../load';
import { readOnce } from '../read-once';
import { type Row, type RowContext, rateOf, type Struck, type Traffic, underLoad } from '../row';
import { pause, until } from '../until';

/** Time within which a dead network must be detected. */
const DETECT_MS = 20_000;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Number of times that a fault strikes in a short and in a long run. */
const times = (isSuite: boolean): number => (isSuite ? 2 : 5);

export const databaseRows: Row[] = [
  {
    id: 'F9',
    limitS: 180,
    title: 'PostgreSQL is restarted (immediate) again and again',
    pass: 'every accepted execution ends as it should; what was accepted does not run again',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        for (let i = 0; i < times(isSuite); i++) {
          await rig.postgres.kill();
          await pause(random.below(2_000));
          await rig.postgres.start();
          await pause(3_000 + random.below(3_000));
        }
        return { facts: { restarts: times(isSuite) } };
      }),
  },
  {
    id: 'F10',
    limitS: 150,
    title: 'PostgreSQL does it and the answer is lost (also of COMMIT)',
    pass: 'no double effect; clients and services converge',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        const rounds = times(isSuite) * 4;
        for (let i = 0; i < rounds; i++) {
          rig.postgresProxy.dropAnswers();
          await pause(20 + random.below(150));
          rig.postgresProxy.heal();
          await pause(500 + random.below(500));
        }
        return { facts: { rounds }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F11',
    title: 'PostgreSQL is 200 ms away, more or less by 100 ms, each way',
    pass: 'no lease runs out (nothing runs twice); transactions a second stay within 1.5 times the usual; every execution ends',
    limitS: 180,
    run: (at) => underLoad(at, (load, before) => slowDatabase(at, load, before)),
  },
  {
    id: 'F12',
    limitS: 180,
    title: 'half-open partition of PostgreSQL: nothing arrives, nothing is closed',
    pass: 'the API answers 503 within 20 s instead of hanging; heals alone',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, isSuite } = at;
        rig.postgresProxy.blackhole();
        const since = performance.now();
        const status = await until('503 from the API', 60_000, async () => {
          const answer = await readOnce(rig);
          return answer.status === 503 ? answer : null;
        });
        const ms = performance.now() - since;
        const after = await readOnce(rig);
        await pause(Math.max(0, (isSuite ? 25_000 : 40_000) - (performance.now() - since)));
        rig.postgresProxy.heal();
        const healedAt = performance.now();
        await until('the API again', 30_000, async () => (await readOnce(rig)).status === 200);
        return {
          facts: {
            '503 after': seconds(ms),
            'well again after': seconds(performance.now() - healedAt),
          },
          violations: [
            ...(ms > DETECT_MS ? [`F12: 503 came after ${seconds(ms)}, allowed 20 s`] : []),
            ...(status.retryAfter ? [] : ['F12: 503 came without Retry-After']),
            ...(after.ms > DETECT_MS
              ? [`F12: a later request waited ${seconds(after.ms)}, allowed 20 s`]
              : []),
          ],
        };
      }),
  },
];

async function slowDatabase({ rig, isSuite }: RowContext, load: Load, before: Traffic): Promise<Struck> {
  const usual = await transactionsWithin(rig, 4_000);
  rig.postgresProxy.delay(200, 100);
  const startedAt = Date.now();
  const slow = await transactionsWithin(rig, isSuite ? 20_000 : 35_000);
  const perS = rateOf(load.runs(), startedAt, Date.now());
  rig.postgresProxy.delay(0);
  return {
    facts: {
      'operations/s while slow': perS.toFixed(1),
      'transactions/s': `${Math.round(usual)} usual, ${Math.round(slow)} slow`,
    },
    violations: [
      // Late answers must not cause more frequent requests.
      ...(slow > usual * 1.5
        ? [`F11: ${Math.round(slow)} transactions/s, usual are ${Math.round(usual)}`]
        : []),
      ...(perS === 0 ? [`F11: nothing ended while PostgreSQL was slow; before it was ${before.perS}/s`] : []),
    ],
    judge: { victims: [] },
  };
}

/** Returns the number of transactions per second, committed or rolled back, as counted by PostgreSQL. */
async function transactionsWithin({ sql }: RowContext['rig'], ms: number): Promise<number> {
  const count = async (): Promise<number> => {
    const [row] = await sql<{ n: string }>(
      `select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()`,
    );
    return Number(row!.n);
  };
  const first = await count();
  const since = performance.now();
  await pause(ms);
  return ((await count()) - first) / ((performance.now() - since) / 1000);
}
