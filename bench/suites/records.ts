// Cost of a Prisma client over our connections (docs/adr/0023-prisma.md): one record and a list of 50 by pg, by Kysely and by
// Prisma, and the memory that the first use of a client adds to a process. Calls are sequential, because they are rare.
import { join } from 'node:path';
import { silentLog } from '@baton/kernel';
import { createDb, type Db, runMigrations } from '@baton/postgres';
import { samples } from '../../packages/postgres/test-prisma/samples';
import { createDatabase } from '../harness/manager';
import { usageOf } from '../harness/processes';
import { columns, type Plan } from '../harness/report';
import { spread } from '../harness/statistics';

interface Tables {
  samples: { id: string; number: number; small: number; is_on: boolean; at: string; content: unknown };
}

const ROWS = 10_000;
const LIST = 50;
const CALLS = { quick: 300, full: 3_000 };
const COLUMNS = ['id', 'number', 'small', 'is_on', 'at', 'content'] as const;
const SELECT = { id: true, number: true, small: true, is_on: true, at: true, content: true };
const text = `select ${COLUMNS.join(', ')} from samples`;

export async function records(plan: Plan): Promise<object> {
  const database = await createDatabase();
  const schema = 'samples';
  const dir = join(__dirname, '../../packages/postgres/test-prisma/migrations');
  await runMigrations({ url: database.url, schema, dir, log: silentLog });
  const db = createDb<Tables>({ url: database.url, schema, applicationName: 'bench', log: silentLog });
  try {
    await db.pool.query(
      `insert into samples (id, number, content) select 'row-' || i, i, '{"a": 1}' from generate_series(1, $1::int) i`,
      [ROWS],
    );
    await db.pool.query('analyze samples');
    const firstUse = await firstUseOf(db);
    plan.say(columns('first use', `${firstUse.ms} ms`, `${firstUse.rssMb} MB`));
    return { firstUse, ...(await compare(plan, db)) };
  } finally {
    await db.close();
    await database.drop();
  }
}

async function firstUseOf(db: Db<Tables>): Promise<{ ms: number; rssMb: number }> {
  const rss = () => usageOf(new Map([['self', process.pid]]), null).get('self')!.rssMb;
  const before = rss();
  const begin = performance.now();
  await samples.over(db.query, (p) => p.sample.findUnique({ where: { id: 'row-1' } }));
  return { ms: Math.round(performance.now() - begin), rssMb: Math.round(rss() - before) };
}

type Call = (i: number) => Promise<unknown>;

async function compare(plan: Plan, db: Db<Tables>): Promise<object> {
  const kysely = () => db.query.selectFrom('samples').select([...COLUMNS]);
  const ways: Record<string, Record<string, Call>> = {
    one: {
      pg: (i) => db.pool.query(`${text} where id = $1`, [`row-${i}`]),
      kysely: (i) => kysely().where('id', '=', `row-${i}`).executeTakeFirst(),
      prisma: (i) =>
        samples.over(db.query, (p) => p.sample.findUnique({ select: SELECT, where: { id: `row-${i}` } })),
    },
    list: {
      pg: (i) => db.pool.query(`${text} where id > $1 order by id limit ${LIST}`, [`row-${i}`]),
      kysely: (i) => kysely().where('id', '>', `row-${i}`).orderBy('id').limit(LIST).execute(),
      prisma: (i) =>
        samples.over(db.query, (p) =>
          p.sample.findMany({
            select: SELECT,
            where: { id: { gt: `row-${i}` } },
            orderBy: { id: 'asc' },
            take: LIST,
          }),
        ),
    },
  };
  const calls = plan.isQuick ? CALLS.quick : CALLS.full;
  const results: Record<string, object> = {};
  for (const [shape, by] of Object.entries(ways)) {
    const us: Record<string, number[]> = {};
    for (let round = -1; round < plan.rounds; round++)
      for (const [way, call] of Object.entries(by)) {
        const one = await microsecondsOf(call, calls);
        if (round >= 0) (us[way] ??= []).push(one);
      }
    const found = Object.fromEntries(Object.entries(us).map(([way, all]) => [way, spread(all, 'least')]));
    for (const [way, { median }] of Object.entries(found))
      plan.say(columns(`${shape} by ${way}`, `${median} µs`));
    results[shape] = found;
  }
  return results;
}

async function microsecondsOf(call: Call, calls: number): Promise<number> {
  const begin = performance.now();
  for (let i = 0; i < calls; i++) await call((i * 37) % ROWS);
  return ((performance.now() - begin) * 1000) / calls;
}
