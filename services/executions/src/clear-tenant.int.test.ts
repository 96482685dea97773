// The rows of a removed tenant are deleted in bounded batches, whatever refers to them. Rows of an open tenant are never deleted.
import { clearTenant, closeTenant, openTenant } from '@baton/postgres';
import { type EngineSetup, engineSetup } from './testing/engine-setup';

const SCHEMA = 'executions';
let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
  for (const tenant of ['gone', 'stays'])
    for (let n = 0; n < 7; n++) {
      const { rows } = await engine.db.pool.query(
        `insert into executions (id, tenant, request_id, payload_hash, workflow_id, deployment_id, created_by, visibility, status, phase, token_hash)
         values (gen_random_uuid(), $1, gen_random_uuid(), 'h', 'install', 'd', 'ann', 'private', 'terminated', 'ended', 't') returning id`,
        [tenant],
      );
      await engine.db.pool.query(
        `insert into client_graphs (id, execution_id, name) values (gen_random_uuid(), $1, 'g')`,
        [rows[0].id],
      );
      await engine.db.pool.query(
        `insert into events (execution_id, seq, tenant, visibility, created_by, is_log, message, reported_at, created_at)
         values ($1, 1, $2, 'private', 'ann', false, 'm', app_now(), app_now() - ($3 || ' months')::interval)`,
        [rows[0].id, tenant, n % 2],
      );
    }
}, 60_000);
afterAll(async () => await engine?.stop());

const count = async (table: string, tenant: string): Promise<number> =>
  (await engine.db.pool.query(`select count(*)::int as n from ${table} where tenant = $1`, [tenant])).rows[0]
    .n;
const clear = (tenant: string, limit = 1000) => clearTenant(engine.db.pool, SCHEMA, tenant, limit);

test('an open tenant loses nothing', async () => {
  expect(await clear('stays')).toBe(0);
  expect(await count('executions', 'stays')).toBe(7);
});

test('a closed one loses all of it, part by part and from two sides at once', async () => {
  await closeTenant(engine.db.pool, SCHEMA, 'gone');
  expect(await clear('gone', 3)).toBe(3);
  expect((await count('executions', 'gone')) + (await count('events', 'gone'))).toBeGreaterThan(8);
  await Promise.all([clear('gone', 4), clear('gone', 4)].map((one) => one.catch(() => 0)));
  for (let left = 1; left > 0; ) left = await clear('gone', 4);
  for (const table of ['executions', 'events', 'row_counts']) expect(await count(table, 'gone')).toBe(0);
  const { rows } = await engine.db.pool.query('select count(*)::int as n from client_graphs');
  expect(rows[0].n).toBe(7);
  for (const table of ['executions', 'events']) expect(await count(table, 'stays')).toBe(7);
});

test('a later tenant of the name is not touched by a clearing that is late, and counts from nothing', async () => {
  await openTenant(engine.db.pool, SCHEMA, 'gone', true);
  await engine.db.pool.query(
    `insert into execution_groups (tenant, id, workflow_id, deployment_group_id, visibility, created_by, concurrency)
     values ('gone', gen_random_uuid(), 'install', 'g', 'tenant', 'ann', 5)`,
  );
  expect(await clear('gone')).toBe(0);
  expect(await count('execution_groups', 'gone')).toBe(1);
});

test('opening for a new tenant leaves totals of nothing behind', async () => {
  await closeTenant(engine.db.pool, SCHEMA, 'stays');
  await openTenant(engine.db.pool, SCHEMA, 'stays', true);
  const { rows } = await engine.db.pool.query(
    `select coalesce(sum(total), 0)::int as total from row_counts where tenant = 'stays'`,
  );
  expect(rows[0].total).toBe(0);
});
