import { type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { listExecutions } from '../../executions/queries/list-executions';
import { readExecution } from '../../executions/store/executions.sql';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { actOnExecutions } from './act-on-executions';

const principal = {
  username: 'bob',
  tenant: 't1',
  role: 'default',
  roles: ['default'],
  permissions: ['execution_cancel'],
  tenants: [],
  isBootstrapAdmin: false,
} as unknown as Principal;
const matching = (filters: ListQuery['filters']): ListQuery => listQuery({ filters });

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

async function begin(tenant: string, deploymentId: string): Promise<string> {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }));
  const request = { tenant, requestId: newId(), createdBy: 'bob', deploymentId, workflowId: 'install' };
  return (await engine.client.startExecution(request)).executionId;
}
const status = async (id: string) => (await readExecution(engine.db.query, id))!.status;

test('what the filters match is cancelled and resumed, of the own tenant and nothing else', async () => {
  const [first, second, other, foreign] = [
    await begin('t1', 'one'),
    await begin('t1', 'two'),
    await begin('t1', 'three'),
    await begin('t2', 'one'),
  ];
  await expect(actOnExecutions(engine.deps, principal, matching({}), 'cancel')).rejects.toMatchObject({
    code: 'bad_parameters_error',
    details: { field: 'status' },
  });
  const filters = { deployment_id: ['one', 'two'] };
  const done = await actOnExecutions(engine.deps, principal, matching(filters), 'force-cancel');
  expect(done).toEqual({
    total: 2,
    items: [first, second].map((id) => ({ id, error_code: null, message: null })),
  });
  await eventually(
    async () => expect([await status(first!), await status(second!)]).toEqual(['cancelled', 'cancelled']),
    { deadlineMs: 20_000 },
  );
  expect(['pending', 'started']).toContain(await status(other!));
  expect(['pending', 'started']).toContain(await status(foreign!));
  expect((await actOnExecutions(engine.deps, principal, matching(filters), 'cancel')).items).toEqual([]);
  const resumed = await actOnExecutions(engine.deps, principal, matching(filters), 'resume');
  expect(resumed.items.map((one) => one.error_code)).toEqual([null, null]);
  expect(['pending', 'started']).toContain(await status(first!));
}, 60_000);

test('one that cannot be gone on with is told, and the others go on', async () => {
  const [broken, whole] = [await begin('t1', 'unreadable'), await begin('t1', 'readable')];
  const filters = { deployment_id: ['unreadable', 'readable'] };
  const graphs = async () =>
    (
      await sql`select 1 from tasks_graphs where execution_id = any(${[broken, whole]}::uuid[])`.execute(
        engine.db.query,
      )
    ).rows;
  await eventually(async () => expect(await graphs()).toHaveLength(2), { deadlineMs: 20_000 });
  await actOnExecutions(engine.deps, principal, matching(filters), 'cancel');
  await eventually(
    async () => expect([await status(broken), await status(whole)]).toEqual(['cancelled', 'cancelled']),
    { deadlineMs: 20_000 },
  );
  await sql`update tasks_graphs set tasks = 'no graph' where execution_id = ${broken}`.execute(
    engine.db.query,
  );
  const { items } = await actOnExecutions(engine.deps, principal, matching(filters), 'resume');
  expect(items.map(({ id, error_code }) => [id, error_code])).toEqual([
    [broken, 'internal_server_error'],
    [whole, null],
  ]);
  expect(['pending', 'started']).toContain(await status(whole));
}, 60_000);

test('totals of lists are those of a count for everybody, through inserts, deletes and changes of visibility', async () => {
  const db = engine.db.query;
  const owner = (username: string, tenant: string, more: object = {}) =>
    ({ ...principal, username, tenant, ...more }) as Principal;
  const admin = owner('admin', 't1', {
    isBootstrapAdmin: true,
    permissions: ['administrators', 'all_tenants'],
  });
  const expectRight = async (): Promise<number[]> => {
    const totals: number[] = [];
    for (const who of [admin, owner('ann', 't1'), owner('bob', 't2')])
      for (const allTenants of [false, true])
        for (const withSystem of ['false', 'true']) {
          const list = {
            ...matching({}),
            size: 3,
            allTenants,
            extra: { _include_system_workflows: [withSystem] },
          };
          const { items, total } = await listExecutions(db, who, list);
          // With a filter the rows are counted one by one; every row passes this filter.
          const counted = await listExecutions(db, who, { ...list, filters: { is_dry_run: ['false'] } });
          expect([total, items]).toEqual([counted.total, counted.items]);
          totals.push(total);
        }
    return totals;
  };
  const before = await expectRight();
  await sql`insert into executions (id, tenant, request_id, payload_hash, workflow_id, visibility, created_by, status, phase, token_hash, is_system_workflow)
    select gen_random_uuid(), 't' || 1 + i % 2, 'total-' || i, '', 'w', (array['private', 'tenant', 'global'])[1 + i % 3],
      (array['ann', 'bob'])[1 + i / 6 % 2], 'terminated', 'ended', 'total-' || i, i % 5 = 0 from generate_series(1, 60) i`.execute(
    db,
  );
  expect(await expectRight()).not.toEqual(before);
  await sql`update executions set visibility = 'private' where request_id like 'total-_'`.execute(db);
  await expectRight();
  await sql`delete from executions where request_id like 'total-%'`.execute(db);
  expect(await expectRight()).toEqual(before);
});
