import { join } from 'node:path';
import { silentLog } from '@baton/kernel';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { type Kysely, sql } from 'kysely';
import { samples } from '../../test-prisma/samples';
import { createDb, type Db } from '../index';

let database: TestDatabase;
// biome-ignore lint/suspicious/noExplicitAny: rows are compared as they come.
let db: Db<any>;

beforeAll(async () => {
  const dir = join(__dirname, '../../test-prisma/migrations');
  database = await testDatabase({ migrations: [{ schema: 'samples', dir }] });
  db = createDb({ url: database.url, schema: 'samples', applicationName: 'test', log: silentLog });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await sql`truncate samples cascade`.execute(db.query);
});

const full = {
  id: 'ü "quoted", {braced}',
  number: 2n ** 40n + 1n,
  small: -3,
  ratio: 0.1,
  amount: '12345678901234.5678',
  is_on: true,
  at: new Date('2026-01-02T03:04:05.678Z'),
  local_at: new Date('2026-01-02T03:04:05.678Z'),
  day: new Date('2026-01-02T00:00:00.000Z'),
  content: { list: [1, 'zwei', null], nested: { is: true } },
  plain: ['a'],
  ref: '0190b7a8-0000-7000-8000-000000000001',
  bytes: new Uint8Array([0, 1, 255]),
  mood: 'very_cross' as const,
  texts: ['a,b', '"', '', 'NULL', 'ü', '{}'],
  numbers: [1n, 2n ** 53n + 1n],
  instants: [new Date('2026-01-02T03:04:05.120Z')],
  refs: ['0190b7a8-0000-7000-8000-000000000002'],
  moods: ['calm' as const, 'very_cross' as const],
};

/** Returns the values as text of the server, so that none of our parsers is involved. */
async function stored(of: Kysely<unknown>): Promise<Record<string, unknown>> {
  const { rows } = await sql<{ row: Record<string, unknown> }>`
    select jsonb_build_object('number', number::text, 'amount', amount::text, 'at', at::text, 'local_at', local_at::text,
      'day', day::text, 'content', content, 'bytes', encode(bytes, 'hex'), 'mood', mood::text, 'texts', to_jsonb(texts),
      'numbers', numbers::text, 'instants', instants::text, 'refs', refs::text, 'moods', moods::text) as row from samples`.execute(
    of,
  );
  return rows[0]!.row;
}

test('values of every type are stored as they are', async () => {
  await db.tx((tx) => samples.over(tx, (p) => p.sample.create({ data: full })));
  expect(await stored(db.query)).toEqual({
    number: '1099511627777',
    amount: '12345678901234.5678',
    at: '2026-01-02 03:04:05.678+00',
    local_at: '2026-01-02 03:04:05.678',
    day: '2026-01-02',
    content: full.content,
    bytes: '0001ff',
    mood: 'very-cross',
    texts: full.texts,
    numbers: '{1,9007199254740993}',
    instants: '{"2026-01-02 03:04:05.12+00"}',
    refs: '{0190b7a8-0000-7000-8000-000000000002}',
    moods: '{calm,very-cross}',
  });
});

test('values of every type come back as they were, whole rows and single ones', async () => {
  await db.tx((tx) => samples.over(tx, (p) => p.sample.create({ data: full })));
  const expected = { ...full, amount: expect.anything(), bytes: Buffer.from(full.bytes) };
  const [row] = await samples.over(db.query, (p) => p.sample.findMany());
  expect({ ...row, bytes: Buffer.from(row!.bytes!) }).toEqual(expected);
  expect(row!.amount!.toString()).toBe(full.amount);
});

test('defaults come from the database, nulls are nulls', async () => {
  const row = await db.tx((tx) => samples.over(tx, (p) => p.sample.create({ data: { id: 'a' } })));
  const { at, ...rest } = row;
  expect(at).toBeInstanceOf(Date);
  expect(rest).toEqual({
    ...{ id: 'a', number: 0n, small: 7, is_on: false, content: {}, mood: 'calm' },
    ...{ ratio: null, amount: null, local_at: null, day: null, plain: null, ref: null, bytes: null },
    ...{ texts: [], numbers: [], instants: [], refs: [], moods: [] },
  });
});

test('instants are cut to milliseconds, as Kysely delivers them', async () => {
  await sql`insert into samples (id, at) values ('a', '2026-01-02 03:04:05.999999Z')`.execute(db.query);
  const { at } = await samples.over(db.query, (p) => p.sample.findFirstOrThrow({ select: { at: true } }));
  expect(at.toISOString()).toBe('2026-01-02T03:04:05.999Z');
  expect((await db.query.selectFrom('samples').select('at').executeTakeFirst())?.at).toBe(at.toISOString());
});

test('an instant that no Date can hold is refused rather than bent', async () => {
  await sql`insert into samples (id, at) values ('a', '-infinity')`.execute(db.query);
  await expect(samples.over(db.query, (p) => p.sample.findMany())).rejects.toThrow(RangeError);
});

test('parameters find what they name: instants, bigints, identifiers, enums, lists, bytes, JSON', async () => {
  await db.tx((tx) => samples.over(tx, (p) => p.sample.create({ data: full })));
  const { ref, at, number, mood, texts, bytes } = full;
  const wheres = [
    ...[
      { ref },
      { at },
      { at: { lt: new Date('2030-01-01T00:00:00Z') } },
      { number },
      { number: { in: [number, 1n] } },
    ],
    ...[{ mood }, { texts: { has: 'a,b' } }, { texts: { equals: texts } }, { bytes }],
    ...[{ content: { path: ['nested', 'is'], equals: true } }, { content: { equals: full.content } }],
  ];
  for (const where of wheres) {
    const found = await samples.over(db.query, (p) => p.sample.count({ where }));
    expect({ where, found }).toEqual({ where, found: 1 });
  }
});

test('rows of a relation come in one question', async () => {
  await db.tx((tx) =>
    samples.over(tx, (p) =>
      p.sample.create({ data: { id: 'a', notes: { create: [{ tenant: 't', id: 'n', text: 'x' }] } } }),
    ),
  );
  const row = await samples.over(db.query, (p) =>
    p.sample.findFirst({ select: { id: true, notes: { select: { text: true } } } }),
  );
  expect(row).toEqual({ id: 'a', notes: [{ text: 'x' }] });
});
