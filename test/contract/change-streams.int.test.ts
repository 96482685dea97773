// Streams of changes through the gateway, read by the client: each kind from its creation to its deletion, changes that must stay
// hidden, and resuming a reader. Also pages by cursor. Needs the bundles of `npm run build`.
import { createClient, type ServerEvent } from '@baton/client';
import { eventually } from '@baton/testkit';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf, PASSWORD, type Who } from '../security/caller';
import { tgz, wagon } from './world';

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  a: {type: cloudify.nodes.Root}
`;
const DEADLINE = { deadlineMs: 30_000 };

let fleet: Fleet;
let caller: Caller;
let ann: Who;
let bob: Who;
let far: Who;
const aborts: AbortController[] = [];
interface Reading {
  events: ServerEvent[];
  /** Operations of a resource, in order. */
  of(id: string): string[];
  stop(): void;
}

async function read(who: Who, query: Record<string, string> = {}, lastEventId?: string): Promise<Reading> {
  const username = who.user!.split(':')[0]!;
  const password = username === 'admin' ? fleet.adminPassword : PASSWORD;
  const client = createClient({ baseUrl: fleet.baseUrl, username, password, tenant: who.tenant });
  const abort = new AbortController();
  aborts.push(abort);
  const events: ServerEvent[] = [];
  const o = { signal: abort.signal, ...(lastEventId === undefined ? {} : { lastEventId }) };
  void (async () => {
    for await (const event of client.events('streamChanges', query, o)) events.push(event);
  })();
  await eventually(() => expect(events.map(({ event }) => event)).toContain('ready'), DEADLINE);
  return {
    events,
    of: (id) =>
      events
        .filter(({ event, data }) => event === 'change' && data.id === id)
        .map(({ data }) => data.operation),
    stop: () => abort.abort(),
  };
}

const upload = (who: Who, id: string, visibility = 'tenant') =>
  caller.must(
    who,
    'PUT',
    `/blueprints/${id}?visibility=${visibility}`,
    undefined,
    tgz({ 'blueprint.yaml': BLUEPRINT }),
  );

/** In services mode two replicas of executions share the work, and readers are connected only to the first. */
describe.each(['standalone', 'services'] as const)('%s', (mode) => {
  beforeAll(async () => {
    const replicas = mode === 'services' ? { replicas: { executions: 2 } } : {};
    fleet = await startFleet({ mode, ...replicas, env: { BATON_VALIDATE_RESPONSES: 'true' } });
    caller = callerOf(fleet);
    ann = await caller.user('ann', 'team', 'user');
    bob = await caller.user('bob', 'team', 'user');
    far = await caller.user('far', 'other', 'user');
  }, 180_000);
  afterEach(() => {
    for (const abort of aborts.splice(0)) abort.abort();
  });
  afterAll(async () => await fleet?.stop(), 60_000);

  test('blueprints: uploaded, changed, deleted', async () => {
    const reading = await read(ann);
    await upload(ann, 'b1');
    await eventually(() => expect(reading.of('b1')).toEqual(['created']), DEADLINE);
    await caller.must(ann, 'PATCH', '/blueprints/b1', { labels: [{ team: 'red' }] });
    await eventually(() => expect(reading.of('b1')).toEqual(['created', 'changed']), DEADLINE);
    await caller.must(ann, 'DELETE', '/blueprints/b1');
    await eventually(() => expect(reading.of('b1')).toEqual(['created', 'changed', 'deleted']), DEADLINE);
  });

  test('who reads an upload in the background at each change sees its end', async () => {
    const reading = await read(ann, { kinds: 'blueprints' });
    await caller.must(
      ann,
      'PUT',
      '/blueprints/slow?async_upload=true',
      undefined,
      tgz({ 'blueprint.yaml': BLUEPRINT }),
    );
    // Changes within 100 ms are merged, so their number is not known.
    let told = 0;
    let state = '';
    await eventually(async () => {
      if (reading.of('slow').length > told) {
        told = reading.of('slow').length;
        state = (await caller.must(ann, 'GET', '/blueprints/slow')).state;
      }
      expect(state).toBe('uploaded');
    }, DEADLINE);
    expect(reading.of('slow')[0]).toBe('created');
  });

  test('plugins: uploaded, changed, deleted', async () => {
    const reading = await read(ann);
    const { id } = await caller.must(ann, 'POST', '/plugins?title=p', undefined, wagon('told-plugin'));
    await eventually(() => expect(reading.of(id)).toEqual(['created']), DEADLINE);
    await caller.must({ ...caller.admin, tenant: 'team' }, 'PATCH', `/plugins/${id}/set-visibility`, {
      visibility: 'global',
    });
    await eventually(() => expect(reading.of(id)).toEqual(['created', 'changed']), DEADLINE);
    await caller.must({ ...caller.admin, tenant: 'team' }, 'DELETE', `/plugins/${id}`, { force: true });
    await eventually(() => expect(reading.of(id)).toEqual(['created', 'changed', 'deleted']), DEADLINE);
  });

  test('deployments and executions: made, changed, run, deleted', async () => {
    const reading = await read(ann);
    await upload(ann, 'b2');
    await caller.must(ann, 'PUT', '/deployments/d1', { blueprint_id: 'b2' });
    await eventually(() => expect(reading.of('d1')[0]).toBe('created'), DEADLINE);
    const seen = reading.of('d1').length;
    await caller.must(ann, 'PATCH', '/deployments/d1', { labels: [{ team: 'blue' }] });
    await eventually(() => expect(reading.of('d1').length).toBeGreaterThan(seen), DEADLINE);
    const before = reading.of('d1').length;
    const { id } = await caller.must(ann, 'POST', '/executions', {
      deployment_id: 'd1',
      workflow_id: 'install',
    });
    const statusOf = () => reading.events.filter(({ data }) => data.id === id).at(-1)?.data;
    await eventually(
      () => expect(statusOf()).toMatchObject({ status: 'terminated', deployment_id: 'd1' }),
      DEADLINE,
    );
    expect(reading.of(id)[0]).toBe('created');
    expect(reading.of(id).filter((one) => one === 'created')).toHaveLength(1);
    await eventually(() => expect(reading.of('d1').length).toBeGreaterThan(before), DEADLINE);
    const shown = await caller.must(ann, 'GET', '/deployments/d1');
    expect(shown).toMatchObject({ latest_execution_status: 'completed', installation_status: 'active' });
    await caller.must(ann, 'DELETE', '/deployments/d1?force=true');
    await eventually(() => expect(reading.of('d1').at(-1)).toBe('deleted'), DEADLINE);
    await eventually(() => expect(reading.of(id).at(-1)).toBe('deleted'), DEADLINE);
    expect(reading.of('d1').filter((one) => one === 'deleted')).toHaveLength(1);
  });

  test('private resources, other tenants, and global ones', async () => {
    const [hers, his, theirs, boss] = await Promise.all([
      read(ann),
      read(bob),
      read(far),
      read({ ...caller.admin, tenant: 'team' }),
    ]);
    await upload(ann, 'secretly', 'private');
    await upload(ann, 'openly');
    await upload({ ...caller.admin, tenant: 'team' }, 'for-all', 'global');
    await upload(far, 'over-there');
    await eventually(() => expect(theirs.of('over-there')).toEqual(['created']), DEADLINE);
    for (const reading of [hers, his, theirs, boss])
      await eventually(() => expect(reading.of('for-all')).toEqual(['created']), DEADLINE);
    await eventually(() => expect(his.of('openly')).toEqual(['created']), DEADLINE);
    await eventually(() => expect(hers.of('secretly')).toEqual(['created']), DEADLINE);
    await eventually(() => expect(boss.of('secretly')).toEqual(['created']), DEADLINE);
    expect(his.of('secretly')).toEqual([]);
    expect(theirs.of('secretly')).toEqual([]);
    expect(theirs.of('openly')).toEqual([]);
    expect(hers.of('over-there')).toEqual([]);
    // When a resource becomes visible to the tenant, the tenant gets a change.
    await caller.must(ann, 'PATCH', '/blueprints/secretly/set-visibility', { visibility: 'tenant' });
    await eventually(() => expect(his.of('secretly')).toEqual(['changed']), DEADLINE);
  });

  test('a reader that was away goes on where it was; what is not known is answered by reset', async () => {
    const reading = await read(ann);
    const lastId = reading.events.at(-1)!.id!;
    reading.stop();
    await upload(ann, 'meanwhile');
    const again = await read(ann, {}, lastId);
    await eventually(() => expect(again.of('meanwhile')).toEqual(['created']), DEADLINE);
    expect(again.events[0]!.event).toBe('ready');
    const lost = await read(ann, {}, 'another-1');
    expect(lost.events.slice(0, 2).map(({ event }) => event)).toEqual(['reset', 'ready']);
  });

  test('without a login, without the tenant, and with kinds that are none', async () => {
    const nobody = { user: null, tenant: 'team' };
    expect((await caller.send(nobody, 'GET', '/changes/stream')).status).toBe(401);
    expect((await caller.send({ ...far, tenant: 'team' }, 'GET', '/changes/stream')).status).toBe(403);
    expect((await caller.send({ ...ann, tenant: '' }, 'GET', '/changes/stream')).status).toBe(403);
    expect((await caller.send(ann, 'GET', '/changes/stream?kinds=secrets')).status).toBe(400);
  });

  test('lists of deployments and executions are read page by page from a cursor on', async () => {
    await upload(ann, 'pages');
    for (let i = 0; i < 7; i++)
      await caller.must(ann, 'PUT', `/deployments/page${i}`, {
        blueprint_id: 'pages',
        labels: [{ of: 'pages' }],
      });
    for (const [path, sort] of [
      ['/deployments', 'created_at'],
      ['/deployments', '-created_at'],
      ['/deployments', '-id'],
      ['/executions', 'created_at'],
      ['/executions', '-created_at'],
      ['/executions', 'status'],
    ] as const) {
      const whole = await caller.must(ann, 'GET', `${path}?_include=id&_sort=${sort}`);
      const ids: string[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const page = await caller.must(
          ann,
          'GET',
          `${path}?_include=id&_sort=${sort}&_size=3&_total=false&_after=${after}`,
        );
        expect(page.metadata.pagination).not.toHaveProperty('total');
        ids.push(...page.items.map(({ id }: { id: string }) => id));
        after = page.metadata.pagination.next;
      }
      expect([path, sort, ids]).toEqual([path, sort, whole.items.map(({ id }: { id: string }) => id)]);
      expect(whole.metadata.pagination).not.toHaveProperty('next');
      const first = await caller.must(ann, 'GET', `${path}?_size=3&_sort=${sort}&_after=`);
      expect(first.metadata.pagination).toMatchObject({
        total: whole.metadata.pagination.total,
        size: 3,
        offset: 0,
      });
      const { next } = first.metadata.pagination;
      const other = await caller.send(
        ann,
        'GET',
        `${path}?_size=3&_sort=${sort}&visibility=tenant&_after=${next}`,
      );
      expect([other.status, other.body.field]).toEqual([400, '_after']);
      expect((await caller.send(far, 'GET', `${path}?_size=3&_sort=${sort}&_after=${next}`)).status).toBe(
        400,
      );
    }
  }, 60_000);

  test('events of an execution from the tail, filtered, and behind an id', async () => {
    await upload(ann, 'b3');
    await caller.must(ann, 'PUT', '/deployments/d3', { blueprint_id: 'b3' });
    const { id } = await caller.must(ann, 'POST', '/executions', {
      deployment_id: 'd3',
      workflow_id: 'install',
    });
    const [username, password] = ann.user!.split(':') as [string, string];
    const client = createClient({ baseUrl: fleet.baseUrl, username, password, tenant: 'team' });
    const eventsOf = async (query: Record<string, string | string[]>, lastEventId?: string) => {
      const found: ServerEvent[] = [];
      for await (const event of client.events(
        'streamEvents',
        { execution_id: id, ...query },
        { lastEventId },
      )) {
        found.push(event);
        if (event.event === 'end') return found;
      }
      return found;
    };
    const all = await eventsOf({});
    const told = all.filter(({ event }) => event === 'event');
    const tail = await eventsOf({ from: 'tail:3' });
    expect(tail.map(({ event }) => event)).toEqual(['window', 'event', 'event', 'event', 'end']);
    expect(tail[0]!.data).toEqual({ first_seq: told.length - 2, last_seq: told.length, total: told.length });
    expect(tail.slice(1, 4)).toEqual(told.slice(-3));
    const filters = { event_type: ['workflow_started', 'workflow_succeeded'], message: 'WORKFLOW EXEC' };
    const few = (await eventsOf(filters)).filter(({ event }) => event === 'event');
    expect(few.map(({ data }) => data.event_type)).toEqual(['workflow_started', 'workflow_succeeded']);
    const rest = await eventsOf({ ...filters, from: 'tail:5' }, few[0]!.id!);
    expect(rest.map(({ data, event }) => data.event_type ?? event)).toEqual(['workflow_succeeded', 'end']);
    for (const bad of ['from=tail:x', 'from=tail:10001', 'type=nonsense'])
      expect((await caller.send(ann, 'GET', `/events/stream?execution_id=${id}&${bad}`)).status).toBe(400);
    expect((await caller.send(far, 'GET', `/events/stream?execution_id=${id}&from=tail:5`)).status).toBe(404);
  }, 60_000);
});
