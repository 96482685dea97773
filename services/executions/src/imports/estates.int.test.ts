import { importsOn, recordsOfEstate, type TestRecord, testRecord } from '@baton/import-part/testing';
import { newId } from '@baton/kernel';
import { peerDeployment } from '../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../testing/engine-setup';
import { type HttpRig, httpRig } from '../testing/http-rig';
import { importTables } from './import-tables';

let engine: EngineSetup;
let http: HttpRig;
let part: ReturnType<typeof importsOn>;
const types = importTables.importers.map(({ type }) => type);
const estate = recordsOfEstate();
const INSTALL = 'aaaaaaaa-0000-4000-8000-000000000001';

beforeEach(async () => {
  engine = await engineSetup();
  engine.peer.deployments.set('web', peerDeployment({ a: [] }));
  http = await httpRig(engine, engine.routes());
  part = importsOn(engine.rpcParts(), types);
});
afterEach(async () => {
  await http.close();
  await engine.stop();
});

const get = async (path: string) => (await http.call('GET', path)).body;
const event = (change: object): TestRecord =>
  testRecord('events', {
    ...{ type: 'cloudify_event', event_type: 'task_started', execution_id: INSTALL, message: 'm' },
    ...change,
  });

test('takes groups and all else of an estate over, and none of them twice', async () => {
  const { counts, fates } = await part.run(estate);
  expect(counts).toEqual({
    executions: { read: 2, imported: 2 },
    execution_groups: { read: 1, imported: 1 },
    events: { read: 12, imported: 12 },
    tasks_graphs: { read: 1, imported: 1 },
    execution_schedules: { read: 1, imported: 1 },
  });
  expect(fates.map(({ type, code }) => [type, code])).toEqual([
    ['executions', 'cancelled'],
    ['execution_schedules', 'disabled'],
  ]);
  const group = await get('/execution-groups/cccccccc-0000-4000-8000-000000000001');
  expect(group).toMatchObject({ execution_ids: [INSTALL], status: 'terminated' });
  const operations = await get('/operations?graph_id=eeeeeeee-0000-4000-8000-000000000001');
  expect(operations.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    ['op-1', 'succeeded'],
    ['op-2', 'pending'],
  ]);
  const again = await part.run(estate);
  for (const of of Object.values(again.counts)) expect(of.same).toBe(of.read);
});

test('keeps, skips or replaces executions that are here with other content', async () => {
  await part.run(estate);
  const other = estate.map((record) =>
    record.type === 'executions' && record.item.includes(INSTALL)
      ? { ...record, item: record.item.replace('"terminated"', '"failed"') }
      : record,
  );
  await expect(part.run(other)).rejects.toMatchObject({ code: 'conflict_error' });
  expect((await part.run(other, { options: { on_conflict: 'skip' } })).counts).toMatchObject({
    executions: { same: 1, skipped: 1 },
    events: { skipped: 12 },
  });
  expect((await get(`/executions/${INSTALL}`)).status).toBe('terminated');
  expect((await part.run(other, { options: { on_conflict: 'replace' } })).counts).toMatchObject({
    executions: { same: 1, replaced: 1 },
    events: { imported: 12 },
  });
  expect((await get(`/executions/${INSTALL}`)).status).toBe('failed');
});

test('events out of order are numbered by their times', async () => {
  const at = (n: number) => `2021-03-04T05:06:0${n}.000Z`;
  await part.run([
    ...estate.filter(({ type }) => type === 'executions'),
    ...[3, 1, 2].map((n) => event({ timestamp: at(n), message: `m${n}` })),
  ]);
  const { rows } = await engine.db.pool.query(
    'select seq, message from events where execution_id = $1 order by seq',
    [INSTALL],
  );
  expect(rows).toEqual([1, 2, 3].map((seq) => ({ seq, message: `m${seq}` })));
  const { rows: last } = await engine.db.pool.query('select last_event_seq from executions where id = $1', [
    INSTALL,
  ]);
  expect(last).toEqual([{ last_event_seq: 3 }]);
});

test('leaves events out as the options say', async () => {
  const { counts } = await part.run(estate, {
    options: { events: 'since', events_since: '2021-03-04T05:06:07.128Z' },
  });
  expect(counts.events).toEqual({ read: 12, imported: 7, skipped: 5 });
});

test('hostile records are lost one by one, and the others are taken', async () => {
  const execution = (change: object): TestRecord => testRecord('executions', { id: newId(), ...change });
  const { counts, fates } = await part.run([
    ...estate,
    execution({ id: 'no-uuid' }),
    execution({ status: 7 }),
    execution({ status: 'terminated', parameters: { n: 1 } }),
    { type: 'executions', tenant: 'default_tenant', item: `{"id":"${newId()}","parameters":{"n":1e400000}}` },
    event({ timestamp: 'yesterday' }),
    event({ timestamp: '2021-03-04T05:06:07Z', execution_id: newId() }),
    event({ timestamp: '2021-03-04T05:06:07Z', message: 'nul \u0000 and half \ud800' }),
    testRecord('execution_schedules', { id: 's', deployment_id: 'web', rule: { recurrence: 'often' } }),
    testRecord('tasks_graphs', { id: newId(), execution_id: newId() }),
  ]);
  expect(counts).toMatchObject({
    executions: { read: 6, imported: 3, lost: 3 },
    events: { read: 15, imported: 13, lost: 2 },
    tasks_graphs: { read: 2, imported: 1, lost: 1 },
    execution_schedules: { read: 2, imported: 1, lost: 1 },
  });
  const codes = fates.filter(({ fate }) => fate === 'lost').map(({ code }) => code);
  expect(codes.sort()).toEqual(
    ['invalid', 'invalid', 'not-storable', 'invalid', 'dangling', 'dangling', 'rule-unreadable'].sort(),
  );
  const { rows } = await engine.db.pool.query(
    'select count(*)::int as n, max(seq)::int as last from events where execution_id = $1',
    [INSTALL],
  );
  expect(rows).toEqual([{ n: 13, last: 13 }]);
});

test('a tenant goes to another manager as records, and comes back as the same records', async () => {
  await part.run(estate);
  const first = await part.exported('default_tenant');
  expect(first).toHaveLength(17);
  const other = await engineSetup();
  try {
    const otherPart = importsOn(other.rpcParts(), types);
    await otherPart.run(first);
    expect(await otherPart.exported('default_tenant')).toEqual(first);
  } finally {
    await other.stop();
  }
});
