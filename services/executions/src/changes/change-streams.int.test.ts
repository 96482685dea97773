// Streams of changes of the running service, over HTTP: which changes are sent once and to whom, and how a reader continues.
import {
  buildMessage,
  catalogResourcesChanged,
  deploymentResourcesChanged,
  type MessageType,
  type Principal,
  type ResourceChange,
  type ResourceChanges,
} from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { cancelExecution } from '../engine/commands/cancel-execution';
import { peerDeployment } from '../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../testing/engine-setup';
import { admin, type HttpRig, httpRig, type OpenStream } from '../testing/http-rig';

let engine: EngineSetup;
let rig: HttpRig;
const open: OpenStream[] = [];
beforeAll(async () => {
  engine = await engineSetup();
  rig = await httpRig(engine, engine.routes(), { heartbeatMs: 40 });
}, 60_000);
afterEach(async () => {
  await Promise.all(open.splice(0).map((stream) => stream.cut()));
});
afterAll(async () => {
  await rig?.close();
  await engine?.stop();
});

const KINDS = ['execution_list', 'deployment_list', 'blueprint_list', 'plugin_list'];
const user = (username: string, more: Partial<Principal> = {}): Principal => ({
  ...admin,
  username,
  role: 'default',
  roles: ['user'],
  permissions: KINDS,
  isBootstrapAdmin: false,
  ...more,
});

async function listen(
  query = '',
  o: { principal?: Principal; lastEventId?: string } = {},
): Promise<OpenStream> {
  const stream = await rig.stream(`/changes/stream${query}`, o);
  open.push(stream);
  if (stream.status === 200)
    await eventually(() => expect(stream.events.map((e) => e.event)).toContain('ready'));
  return stream;
}

const changesOf = (stream: OpenStream, id?: string) =>
  stream.events
    .filter(({ event, data }) => event === 'change' && (id === undefined || data.id === id))
    .map(({ data }) => data);
const operations = (stream: OpenStream, id: string) =>
  changesOf(stream, id).map(({ operation }) => operation);

async function tell(
  message: MessageType<ResourceChanges>,
  tenant: string,
  ...changes: Partial<ResourceChange>[]
): Promise<void> {
  const all = changes.map((one) => ({
    ...{ id: 'x', operation: 'changed', createdBy: 'ann', visibility: 'tenant' },
    kind: message === deploymentResourcesChanged ? 'deployments' : 'blueprints',
    ...one,
  })) as ResourceChange[];
  const about = { tenant, key: tenant, time: new Date().toISOString() };
  await engine.broker.publish([buildMessage(message, about, { changes: all })]);
}

/** Resolves when the stream has reached the present: a change sent before has been received by then, or never will be. */
async function caughtUp(stream: OpenStream, tenant = 'default_tenant'): Promise<void> {
  const id = newId();
  await tell(deploymentResourcesChanged, tenant, { id });
  await eventually(() => expect(changesOf(stream, id)).toHaveLength(1));
}

const { begin, workToEnd, phaseIs, row } = drive(() => engine);
const deploy = (id: string) => engine.peer.deployments.set(id, peerDeployment({ a: [] }, ['create']));

test('an execution is told when it is made, with each state once, and when it is deleted', async () => {
  deploy('d1');
  const stream = await listen('?kinds=executions');
  const id = await begin('d1', 'install');
  await workToEnd(id);
  await eventually(() => expect(changesOf(stream, id).at(-1)?.status).toBe('terminated'));
  const told = changesOf(stream, id);
  const { version, total_operations, finished_operations } = await row(id);
  expect(told.map(({ operation }) => operation)).toEqual(['created', ...told.slice(1).map(() => 'changed')]);
  expect(told.at(-1)).toEqual({
    kind: 'executions',
    id,
    operation: told.length === 1 ? 'created' : 'changed',
    status: 'terminated',
    deployment_id: 'd1',
    workflow_id: 'install',
    version,
    total_operations,
    finished_operations,
  });
  expect(new Set(told.map((one) => JSON.stringify({ ...one, operation: '' }))).size).toBe(told.length);
  const ids = stream.events.map((event) => event.id);
  expect(new Set(ids).size).toBe(ids.length);
  await rig.call('DELETE', `/executions?id=${id}`, {});
  await eventually(() => expect(operations(stream, id).at(-1)).toBe('deleted'));
  expect(operations(stream, id).filter((one) => one === 'deleted')).toHaveLength(1);
});

test('states without events are told: queued, scheduled, cancelled by another replica', async () => {
  deploy('d2');
  const stream = await listen('?kinds=executions');
  const first = await begin('d2', 'install');
  const queued = await begin('d2', 'install', { queue: true });
  await eventually(() =>
    expect(changesOf(stream, queued)).toMatchObject([{ operation: 'created', status: 'queued' }]),
  );
  await cancelExecution(engine.deps, queued, 'cancel');
  await eventually(() => expect(changesOf(stream, queued).at(-1)?.status).toBe('cancelled'));
  const later = await rig.call('POST', '/executions', {
    deployment_id: 'd2',
    workflow_id: 'install',
    scheduled_time: '2099-01-01T00:00:00Z',
  });
  await eventually(() =>
    expect(changesOf(stream, later.body.id)).toMatchObject([{ operation: 'created', status: 'scheduled' }]),
  );
  await cancelExecution(engine.deps, later.body.id, 'cancel');
  await cancelExecution(engine.deps, first, 'kill');
  await phaseIs(first, 'ended');
  await eventually(() => expect(changesOf(stream, first).at(-1)?.status).toBe('cancelled'));
});

test('states of node instances are a change of their deployment', async () => {
  deploy('d3');
  const stream = await listen('?kinds=deployments');
  await workToEnd(await begin('d3', 'install'));
  await eventually(() => expect(operations(stream, 'd3').length).toBeGreaterThan(0));
  expect(new Set(operations(stream, 'd3'))).toEqual(new Set(['changed']));
});

test('a reader that comes back goes on without gap or twin', async () => {
  const stream = await listen();
  await tell(deploymentResourcesChanged, 'default_tenant', { id: 'r1', operation: 'created' }, { id: 'r2' });
  await eventually(() => expect(changesOf(stream, 'r2')).toHaveLength(1));
  const [lastEventId] = stream.events.filter(({ data }) => data.id === 'r1').map(({ id }) => id);
  await stream.cut();
  await tell(deploymentResourcesChanged, 'default_tenant', { id: 'r3' });
  const again = await listen('', { lastEventId: lastEventId! });
  const told = () => changesOf(again).filter(({ id }) => /^r\d$/.test(id));
  await eventually(() => expect(told().map(({ id }) => id)).toEqual(['r2', 'r3']));
  expect(again.events[0]).toEqual({ id: lastEventId, event: 'ready', data: {} });
  expect(again.events.map(({ event }) => event)).not.toContain('reset');
});

test('a position that is not known is answered by reset, before ready', async () => {
  for (const lastEventId of ['0123-4', 'nonsense', '12']) {
    const stream = await listen('', { lastEventId });
    expect(stream.events.slice(0, 2).map(({ event }) => event)).toEqual(['reset', 'ready']);
    expect(stream.events[0]!.id).toBe(stream.events[1]!.id);
  }
});

test('after a loss all readers hear reset and go on', async () => {
  const stream = await listen();
  const about = { tenant: '', key: 'all', time: new Date().toISOString() };
  await engine.broker.publish([
    buildMessage(deploymentResourcesChanged, about, { changes: [], isIncomplete: true }),
  ]);
  await eventually(() => expect(stream.events.map(({ event }) => event)).toContain('reset'));
  await caughtUp(stream);
});

test('nobody is told of private resources of others, of other tenants, or of kinds that he may not list', async () => {
  const ann = await listen('', { principal: user('ann') });
  const bob = await listen('', { principal: user('bob') });
  const boss = await listen('', { principal: user('boss', { permissions: [...KINDS, 'administrators'] }) });
  const far = await listen('', { principal: user('ann', { tenant: 'other' }) });
  const few = await listen('', { principal: user('few', { permissions: ['deployment_list'] }) });
  await tell(
    catalogResourcesChanged,
    'default_tenant',
    { id: 'hers', visibility: 'private' },
    { id: 'ours' },
  );
  await tell(catalogResourcesChanged, 'other', { id: 'theirs' }, { id: 'everybodys', visibility: 'global' });
  await Promise.all([ann, bob, boss, few].map((stream) => caughtUp(stream)));
  await caughtUp(far, 'other');
  const seen = (stream: OpenStream) =>
    changesOf(stream)
      .filter(({ kind }) => kind === 'blueprints')
      .map(({ id }) => id)
      .sort();
  expect(seen(ann)).toEqual(['everybodys', 'hers', 'ours']);
  expect(seen(bob)).toEqual(['everybodys', 'ours']);
  expect(seen(boss)).toEqual(['everybodys', 'hers', 'ours']);
  expect(seen(far)).toEqual(['everybodys', 'theirs']);
  expect(seen(few)).toEqual([]);
  for (const stream of [ann, bob, boss, few])
    for (const one of changesOf(stream)) expect(one).not.toHaveProperty('createdBy');
});

test('what may not be listed is refused by name, and what is no kind as well', async () => {
  const few = user('few', { permissions: ['deployment_list'] });
  const ask = (query: string, principal = few) =>
    rig.call('GET', `/changes/stream${query}`, undefined, principal);
  const refused = await ask('?kinds=deployments,plugins');
  expect(refused.status).toBe(403);
  expect(refused.body).toMatchObject({ error_code: 'forbidden_error' });
  expect(refused.body.message).toMatch(/plugins.*plugin_list/);
  expect((await ask('', user('none', { permissions: [] }))).status).toBe(403);
  expect(await ask('?kinds=deployment')).toMatchObject({ status: 400, body: { field: 'kinds' } });
  const many = Array.from({ length: 1_001 }, (_, i) => `i${i}`).join(',');
  expect(await ask(`?kinds=deployments&ids=${many}`)).toMatchObject({ status: 400, body: { field: 'ids' } });
});

test('only the ids that were asked for', async () => {
  const stream = await listen('?kinds=deployments&ids=i1,i2');
  await tell(deploymentResourcesChanged, 'default_tenant', { id: 'i0' }, { id: 'i1' }, { id: 'i3' });
  await tell(deploymentResourcesChanged, 'default_tenant', { id: 'i2' });
  await eventually(() => expect(changesOf(stream).map(({ id }) => id)).toEqual(['i1', 'i2']));
});

test('one user has so many streams and no more', async () => {
  const principal = user('greedy');
  const streams = await Promise.all(Array.from({ length: 50 }, () => listen('', { principal })));
  expect(streams.every(({ status }) => status === 200)).toBe(true);
  const one = await rig.call('GET', '/changes/stream', undefined, principal);
  expect(one).toMatchObject({ status: 429, body: { error_code: 'too_many_requests_error' } });
  await streams[0]!.cut();
  await eventually(async () => expect((await listen('', { principal })).status).toBe(200));
});

test('a stream lives while nothing changes', async () => {
  const stream = await listen();
  const before = stream.comments();
  await eventually(() => expect(stream.comments()).toBeGreaterThan(before + 5));
});

test('a restart is answered by reset', async () => {
  const stream = await listen();
  const { id } = stream.events[0]!;
  await rig.close();
  await engine.restart();
  rig = await httpRig(engine, engine.routes(), { heartbeatMs: 40 });
  const again = await listen('', { lastEventId: id! });
  expect(again.events.slice(0, 2).map(({ event }) => event)).toEqual(['reset', 'ready']);
});
