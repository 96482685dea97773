// Removing a tenant: refused while other services hold its resources. An object created during the removal either exists before
// the check, or is refused. A later tenant of the same name finds nothing of the earlier one.

import { type TestDatabase, testDatabase } from '@baton/testkit';
import { eventually } from '@baton/testkit/eventually';
import pg from 'pg';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf, type Who } from './caller';

const BLUEPRINT = tgz({ 'blueprint.yaml': 'tosca_definitions_version: cloudify_dsl_1_4\ninputs: {}\n' });
let fleet: Fleet;
let database: TestDatabase;
let caller: Caller;
let server: pg.Client;
const inTenant = (tenant: string): Who => ({ ...caller.admin, tenant });

beforeAll(async () => {
  database = await testDatabase({ migrations: [] });
  fleet = await startFleet({ mode: 'standalone', env: { DATABASE_URL: database.url } });
  caller = callerOf(fleet);
  server = new pg.Client({ connectionString: database.url });
  await server.connect();
}, 120_000);
afterAll(async () => {
  await server?.end();
  await fleet?.stop();
  await database?.drop();
}, 60_000);

const remove = (name: string) => caller.send(caller.admin, 'DELETE', `/tenants/${name}`);

test('a tenant with contents is refused with what it holds, and stays open', async () => {
  await caller.must(caller.admin, 'POST', '/tenants/full');
  const full = inTenant('full');
  await caller.must(full, 'PUT', '/blueprints/b', undefined, BLUEPRINT);
  await caller.must(full, 'PUT', '/deployments/d', { blueprint_id: 'b' });
  await caller.must(full, 'PUT', '/secrets/s', { value: 'v' });
  await caller.must(full, 'PUT', '/sites/s', {});
  const refused = await remove('full');
  expect([refused.status, refused.body.error_code]).toEqual([400, 'illegal_action_error']);
  expect(refused.body.contents).toEqual(['1 blueprints', '1 deployments', '1 sites', '1 secrets']);
  await caller.must(full, 'PUT', '/secrets/t', { value: 'v' });

  await caller.must(full, 'DELETE', '/deployments/d');
  for (const path of ['/secrets/s', '/secrets/t', '/sites/s']) await caller.must(full, 'DELETE', path);
  await until(async () => (await caller.send(full, 'DELETE', '/blueprints/b')).status === 204);
  await until(async () => (await remove('full')).status === 204);
  expect((await caller.send(full, 'GET', '/sites')).status).toBe(403);

  // Nobody can see its executions and events any more: they are deleted in the background.
  const left = async () => {
    const { rows } = await server.query(`select
      (select count(*) from executions.executions where tenant = 'full') + (select count(*) from executions.events where tenant = 'full')
      + (select count(*) from executions.row_counts where tenant = 'full') + (select count(*) from deployments.row_counts where tenant = 'full') as n`);
    return Number(rows[0].n);
  };
  await until(async () => (await left()) === 0);
}, 60_000);

test('a new tenant of the name of a removed one is empty', async () => {
  // Rows that a service may leave behind: history, and rows that nothing of the tenant refers to.
  await server.query(`insert into deployments.inter_deployment_dependencies (id, tenant, dependency_creator, visibility, created_by)
    values (gen_random_uuid(), 'full', 'earlier', 'tenant', 'x')`);
  await caller.must(caller.admin, 'POST', '/tenants/full');
  const full = inTenant('full');
  for (const path of ['/executions', '/events', '/deployments/inter-deployment-dependencies'])
    expect((await caller.must(full, 'GET', path)).metadata.pagination.total).toBe(0);
  await caller.must(full, 'PUT', '/sites/s', {});
  await caller.must(full, 'DELETE', '/sites/s');
  expect((await remove('full')).status).toBe(204);
});

test('what is being made when the tenant goes is waited for and counted; what comes later is refused', async () => {
  await caller.must(caller.admin, 'POST', '/tenants/race');
  // A transaction of a service that has inserted rows but not committed.
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  const insert = (name: string) =>
    writer.query(
      `insert into deployments.sites (tenant, name, visibility, created_by) values ('race', $1, 'tenant', 'x')`,
      [name],
    );
  await writer.query('begin');
  await insert('slow');
  const removing = remove('race');
  await until(
    async () =>
      (await server.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).rows.length >
      0,
  );
  await writer.query('commit');
  expect((await removing).body.contents).toEqual(['1 sites']);

  await writer.query(`delete from deployments.sites where tenant = 'race'`);
  expect((await remove('race')).status).toBe(204);
  await expect(insert('late')).rejects.toMatchObject({ code: 'BT001' });
  await writer.end();
}, 30_000);

test('many who make things while the tenant goes: all of them are refused, or the removal is', async () => {
  for (let round = 0; round < 5; round++) {
    await caller.must(caller.admin, 'POST', '/tenants/contested');
    const contested = inTenant('contested');
    const [removed, ...made] = await Promise.all([
      remove('contested'),
      ...Array.from({ length: 10 }, (_, i) => caller.send(contested, 'PUT', `/sites/s${i}`, {})),
    ]);
    const { rows } = await server.query(
      `select count(*)::int as n from deployments.sites where tenant = 'contested'`,
    );
    expect(rows[0].n).toBe(made.filter(({ status }) => status === 200).length);
    if (removed!.status === 204) expect(rows[0].n).toBe(0);
    else expect([removed!.status, rows[0].n > 0]).toEqual([400, true]);
    for (const { status } of made) expect([200, 403]).toContain(status);
    if (removed!.status === 204) continue;
    await server.query(`delete from deployments.sites where tenant = 'contested'`);
    await until(async () => (await remove('contested')).status === 204);
  }
}, 60_000);

async function until(isSo: () => Promise<boolean>): Promise<void> {
  await eventually(isSo, { deadlineMs: 25_000, everyMs: 50 });
}
