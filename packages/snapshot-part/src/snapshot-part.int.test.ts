import { join } from 'node:path';
import type { snapshotsRpc } from '@baton/contracts';
import { newId, silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import {
  commonlyCleared,
  commonlyKept,
  createSnapshotPart,
  linesOf,
  RowHash,
  snapshotTablesFault,
} from './index';

const tables = {
  kept: commonlyKept,
  cleared: commonlyCleared,
  contents: ['shops'],
  surviving: { runs: 'id = $1' },
};
const everything = { postgresSnapshot: '', databaseId: '', includeEvents: true, includeLogs: true };
const call = { signal: new AbortController().signal, deadlineMs: 60_000 };

interface Shop {
  database: TestDatabase;
  db: Db<unknown>;
  part: ReturnType<typeof createSnapshotPart>['handlers'];
}

async function openShop(): Promise<Shop> {
  const database = await testDatabase({
    migrations: [{ schema: 'shop', dir: join(__dirname, '../test-migrations') }],
  });
  const db = createDb({
    url: database.url,
    schema: 'shop',
    applicationName: 'snapshot-test',
    log: silentLog,
  });
  return { database, db, part: createSnapshotPart({ db, schema: 'shop', tables, log: silentLog }).handlers };
}

/** Reads an export to its end, as a coordinator does: hashes of complete lines, pieces kept. */
async function readAll(part: Shop['part'], request = everything) {
  const rows = new Map<string, Buffer[]>();
  const staged = new Map<string, snapshotsRpc.StagedTable>();
  let header: snapshotsRpc.ExportHeader | undefined;
  for await (const piece of part.export(request, call)) {
    header ??= piece.header;
    if (piece.table !== '') rows.set(piece.table, [...(rows.get(piece.table) ?? []), piece.rows]);
  }
  for (const { name, columns } of header!.tables) {
    const hash = new RowHash();
    for await (const line of linesOf(from(rows.get(name) ?? []), 1e6)) hash.add(line);
    staged.set(name, { name, columns, rows: hash.rows, hash: hash.digest() });
  }
  return { header: header!, rows, tables: [...staged.values()] };
}

async function* from(pieces: readonly Buffer[]) {
  yield* pieces;
}

function restoreOf(
  read: Awaited<ReturnType<typeof readAll>>,
  executionId: string,
): snapshotsRpc.RestoreRequest {
  return {
    restoreId: newId(),
    tables: read.tables,
    executionId,
    createdByExecution: newId(),
    schemaVersion: read.header.schemaVersion,
  };
}

async function stage(part: Shop['part'], restoreId: string, rows: Map<string, Buffer[]>) {
  for (const [table, pieces] of rows)
    for (const [batch, piece] of pieces.entries())
      await part.stage({ restoreId, table, batch, rows: piece.subarray(0, piece.length - 1) }, call);
}

async function fill({ db }: Shop) {
  await db.pool.query(`
    insert into shops (name, sealed, ratio, opened, tags, plan, facts, size) values
      ('Ä "first"', '\\x00ff0a', 0.1, '2026-01-02 03:04:05.678901+00', '{a,"b c"}',
       E'{"z": 1,\\n  "a": "line\\\\nbreak"}', '{"n": 12345678901234567890.5}', 12345678901234567890.123456789),
      ('second', null, 'NaN', 'infinity', '{}', null, null, null)`);
  await db.pool.query(`insert into goods select 1, 'good ' || i from generate_series(1, 3000) i`);
  await db.pool.query(`insert into sales (at, text) values ('2026-03-01', 'old'), ('2026-03-02', null)`);
  await db.pool.query(`insert into outbox values ('${newId()}')`);
}

describe('part of a snapshot', () => {
  let source: Shop;
  let target: Shop;
  beforeAll(async () => {
    source = await openShop();
    target = await openShop();
    await fill(source);
  });
  afterAll(async () => {
    for (const { db, database } of [source, target]) {
      await db.close();
      await database.drop();
    }
  });

  it('takes every value over, keeps what goes on, and gives the same hashes again', async () => {
    const executionId = newId();
    await target.db.pool.query(`insert into shops (name) values ('replaced')`);
    await target.db.pool.query('insert into runs values ($1, $2), ($3, $4)', [
      executionId,
      'goes on',
      newId(),
      'goes',
    ]);
    const read = await readAll(source.part);
    expect(read.header.tables.map(({ name }) => name)).toEqual(['goods', 'runs', 'sales', 'shops']);
    const request = restoreOf(read, executionId);
    await stage(target.part, request.restoreId, read.rows);
    const rehearsed = await target.part.rehearse(request, call);
    expect(rehearsed.replaced).toContainEqual({ table: 'shops', rows: 1 });
    expect((await target.db.pool.query('select name from shops')).rows).toEqual([{ name: 'replaced' }]);

    await target.part.switch(request, call);
    const again = await readAll(target.part);
    const others = (list: snapshotsRpc.StagedTable[]) => list.filter(({ name }) => name !== 'runs');
    expect(others(again.tables)).toEqual(others(read.tables));
    expect((await target.db.pool.query('select state from runs')).rows).toEqual([{ state: 'goes on' }]);
    expect(
      (await target.db.pool.query('select plan::text, name_length from shops order by key')).rows[0],
    ).toEqual({
      plan: '{"z": 1,   "a": "line\\nbreak"}',
      name_length: 9,
    });
    const next = await target.db.pool.query(`insert into shops (name) values ('third') returning key`);
    expect(next.rows).toEqual([{ key: 3 }]);

    await target.part.switch(request, call);
    expect((await target.db.pool.query('select count(*) from shops')).rows).toEqual([{ count: 3 }]);
  });

  it('does not take rows over that are not those of the hash, or break a key, a check or a reference', async () => {
    const read = await readAll(source.part);
    const before = await readAll(target.part);
    const refused = async (change: (rows: Map<string, Buffer[]>) => void, why: RegExp) => {
      const request = restoreOf(read, newId());
      const rows = new Map([...read.rows].map(([name, pieces]) => [name, [...pieces]]));
      change(rows);
      await stage(target.part, request.restoreId, rows);
      await expect(target.part.rehearse(request, call)).rejects.toMatchObject({
        code: 'snapshot_action_error',
        message: expect.stringMatching(why),
      });
      await expect(target.part.switch(request, call)).rejects.toThrow();
      await target.part.discard({ restoreId: request.restoreId }, call);
    };
    const edit = (rows: Map<string, Buffer[]>, table: string, from: string, to: string) =>
      rows.set(table, [Buffer.from(Buffer.concat(rows.get(table)!).toString().replace(from, to))]);
    await refused((rows) => edit(rows, 'shops', 'second', 'forged'), /not those of the snapshot/);
    await refused((rows) => rows.delete('sales'), /0 of 2 rows/);
    await refused((rows) => edit(rows, 'goods', '"shop_key":1', '"shop_key":9'), /goods/);
    await refused((rows) => edit(rows, 'goods', '"good 1"', '""'), /check/);
    expect((await readAll(target.part)).tables).toEqual(before.tables);
  });

  it('refuses rows of a newer schema and of tables and columns that it does not know', async () => {
    const read = await readAll(source.part);
    const tries: [Partial<snapshotsRpc.RestoreRequest>, RegExp][] = [
      [{ schemaVersion: '0002_later' }, /newer/],
      [{ tables: [{ name: 'outbox', columns: ['id'], rows: 0, hash: '' }] }, /shop.outbox/],
      [{ tables: [{ name: 'shops', columns: ['key', 'colour'], rows: 0, hash: '' }] }, /colour/],
    ];
    for (const [change, why] of tries)
      await expect(target.part.rehearse({ ...restoreOf(read, newId()), ...change }, call)).rejects.toThrow(
        why,
      );
  });

  it('shows one instant to everybody who shares it, whatever is written meanwhile', async () => {
    const holder = await source.db.pool.connect();
    try {
      await holder.query('begin isolation level repeatable read');
      const { rows } = await holder.query('select pg_export_snapshot() as name');
      const { rows: id } = await holder.query(
        `select system_identifier || '/' || (select oid from pg_database where datname = current_database()) as id from pg_control_system()`,
      );
      await source.db.pool.query(`insert into shops (name) values ('later')`);
      const shared = { ...everything, postgresSnapshot: rows[0].name, databaseId: id[0].id };
      const read = await readAll(source.part, shared);
      expect(read.header.isShared).toBe(true);
      expect(read.tables.find(({ name }) => name === 'shops')!.rows).toBe(2);
      // The other database cannot share the instant and reports this.
      expect((await readAll(target.part, shared)).header.isShared).toBe(false);
    } finally {
      await holder.query('rollback');
      holder.release();
      await source.db.pool.query(`delete from shops where name = 'later'`);
    }
  });

  it('finds declarations that do not fit the schema', async () => {
    const client = await source.db.pool.connect();
    try {
      const fault = (change: object) => snapshotTablesFault(client, 'shop', { ...tables, ...change });
      expect(await fault({})).toBeNull();
      expect(await fault({ kept: { ...commonlyKept, gone: 'x' } })).toContain('gone');
      expect(await fault({ kept: { ...commonlyKept, shops: 'x' } })).toContain('goods');
    } finally {
      client.release();
    }
  });
});
