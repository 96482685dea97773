import { importsOn, recordsOfS71, type TestRecord, testRecord } from '@baton/import-part/testing';
import { newId } from '@baton/kernel';
import { tellManyEnds } from '../engine/commands/tell-owed-ends';
import { peerDeployment } from '../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../testing/engine-setup';
import { type HttpRig, httpRig } from '../testing/http-rig';
import { importTables } from './import-tables';

let engine: EngineSetup;
let http: HttpRig;
let part: ReturnType<typeof importsOn>;
let archive: TestRecord[];
const types = importTables.importers.map(({ type }) => type);
const INSTALL = '5ac26363-3a85-4b6d-b989-d34ed2a5820a';

beforeAll(async () => {
  archive = await recordsOfS71();
});
beforeEach(async () => {
  engine = await engineSetup();
  for (const id of ['snap-a', 'snap-b']) engine.peer.deployments.set(id, peerDeployment({ a: [] }));
  http = await httpRig(engine, engine.routes());
  part = importsOn(engine.rpcParts(), types);
});
afterEach(async () => {
  await http.close();
  await engine.stop();
});

test('takes executions, events, graphs and schedules of an archive over', async () => {
  const { counts, fates } = await part.run(archive);
  expect(counts).toEqual({
    executions: { read: 5, imported: 5 },
    events: { read: 73, imported: 73 },
    tasks_graphs: { read: 1, imported: 1 },
    execution_schedules: { read: 1, imported: 1 },
  });
  expect(fates.map(({ type, code }) => [type, code])).toEqual([
    ['executions', 'cancelled'],
    ['execution_schedules', 'disabled'],
  ]);
  const { body } = await http.call('GET', `/executions/${INSTALL}`);
  expect(body).toMatchObject({
    id: INSTALL,
    status: 'terminated',
    workflow_id: 'install',
    deployment_id: 'snap-a',
    blueprint_id: 'snap-bp',
    created_at: '2026-11-20T17:05:41.304Z',
    ended_at: '2026-11-20T17:05:43.360Z',
    created_by: 'admin',
  });
  const events = (await http.call('GET', `/events?execution_id=${INSTALL}&_size=100`)).body;
  const expected = archive
    .filter(({ type }) => type === 'events')
    .map(({ item }) => JSON.parse(item))
    .filter(({ execution_id: id }) => id === INSTALL)
    .sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  expect(events.items.map(({ message }: { message: string }) => message).sort()).toEqual(
    expected.map(({ message }) => message).sort(),
  );
  expect(events.items[0]).toMatchObject({ timestamp: expected[0].timestamp, event_type: 'workflow_started' });
  const { rows } = await engine.db.pool.query(
    'select seq, created_at from events where execution_id = $1 order by seq',
    [INSTALL],
  );
  expect(rows.map(({ seq }) => seq)).toEqual(expected.map((_, i) => i + 1));
  expect(rows.map(({ created_at: at }) => at)).toEqual(expected.map(({ timestamp }) => timestamp));

  const graphs = (await http.call('GET', `/tasks_graphs?execution_id=${INSTALL}&name=install`)).body;
  expect(graphs.items).toHaveLength(1);
  const schedule = (await http.call('GET', '/execution-schedules/snap-sched?deployment_id=snap-a')).body;
  expect(schedule).toMatchObject({ enabled: false, next_occurrence: null, workflow_id: 'execute_operation' });
});

test('tells deployments the latest end of each deployment, and nothing else', async () => {
  await part.run(archive);
  await tellManyEnds(engine.deps);
  const { rows } = await engine.db.pool.query('select 1 from executions where wake_at is not null');
  expect(rows).toEqual([]);
  expect(engine.peer.ended.map(({ executionId }) => executionId).sort()).toEqual([
    INSTALL,
    'aded0198-f660-4b29-8fea-b9a94c140d66',
  ]);
});

test('changes nothing when the archive comes again', async () => {
  await part.run(archive);
  const before = await rowsOf(engine);
  const { counts } = await part.run(archive);
  expect(counts).toEqual({
    executions: { read: 5, same: 5 },
    events: { read: 73, same: 73 },
    tasks_graphs: { read: 1, same: 1 },
    execution_schedules: { read: 1, same: 1 },
  });
  expect(await rowsOf(engine)).toEqual(before);
});

test('refuses starts on a deployment in quarantine, and resumes of imported executions', async () => {
  const failed = testRecord('executions', {
    id: newId(),
    status: 'failed',
    workflow_id: 'install',
    deployment_id: 'snap-a',
  });
  await part.run([failed]);
  engine.peer.deployments.get('snap-a')!.quarantine = 'cloudify 7.1.0';
  const start = () => http.call('POST', '/executions', { deployment_id: 'snap-a', workflow_id: 'install' });
  const refused = await start();
  expect(refused).toMatchObject({ status: 409, body: { error_code: 'conflict_error' } });
  expect(refused.body.message).toContain('baton import activate');
  delete engine.peer.deployments.get('snap-a')!.quarantine;
  expect((await start()).status).toBe(201);
  const { id } = JSON.parse(failed.item);
  const resumed = await http.call('POST', `/executions/${id}`, { action: 'resume', deployment_id: 'snap-a' });
  expect(resumed).toMatchObject({ status: 409, body: { error_code: 'conflict_error' } });
});

test('enables schedules with the activation of their deployments', async () => {
  await part.run(archive);
  expect((await part.activate('default_tenant', ['snap-b'], true)).schedules).toBe(0);
  expect((await part.activate('default_tenant', ['snap-a'])).schedules).toBe(0);
  expect((await part.activate('default_tenant', ['snap-a'], true)).schedules).toBe(1);
  expect((await part.activate('default_tenant', ['snap-a'], true)).schedules).toBe(0);
  const schedule = (await http.call('GET', '/execution-schedules/snap-sched?deployment_id=snap-a')).body;
  expect(schedule).toMatchObject({ enabled: true, next_occurrence: '2040-01-01T00:00:00.000Z' });
});

/** Content of the tables that an import writes; whether an end was told is none of it. */
async function rowsOf({ db }: EngineSetup): Promise<unknown[]> {
  const found = [];
  for (const table of ['events', 'client_graphs', 'client_operations', 'execution_schedules'])
    found.push((await db.pool.query(`select t::text as row from ${table} t order by 1`)).rows);
  found.push(
    (await db.pool.query(`select to_jsonb(e) - 'wake_at' as row from executions e order by id`)).rows,
  );
  return found;
}
