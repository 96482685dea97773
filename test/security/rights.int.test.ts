// S4: bypassing the rules of a resource needs a separate permission. A user without it is refused, with a line in the gateway's
// log. S6: credentials of all kinds, on two gateways and two identities.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allRoutes } from '@baton/contracts/http/all';
import { eventually } from '@baton/testkit/eventually';
import pg from 'pg';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf, PASSWORD, type Who } from './caller';

const TENANT = 'default_tenant';
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  n:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: |
            #!/bin/bash
            sleep 300
`;
let fleet: Fleet;
let first: Caller;
let second: Caller;
let database: pg.Client;
let viewer: Who;
let user: Who;
let instance: { id: string; version: number };

beforeAll(async () => {
  const env = {
    BATON_ACCOUNT_LOCK_PERIOD: '10',
    BATON_FAILED_LOGINS_BEFORE_ACCOUNT_LOCK: '4',
    // The duration of many wrong passwords is measured here; login-flood.int.test.ts tests that they are slowed down.
    BATON_LOGIN_FREE_FAILURES: '0',
  };
  fleet = await startFleet({ mode: 'services', gateways: 2, replicas: { identity: 2 }, env });
  first = callerOf(fleet);
  second = callerOf(fleet, fleet.baseUrls[1]);
  database = new pg.Client({ connectionString: fleet.databaseUrl });
  await database.connect();
  viewer = await first.user('viewer1', TENANT, 'viewer');
  user = await first.user('user1', TENANT, 'user');
  await first.must(user, 'PUT', '/blueprints/b', undefined, tgz({ 'blueprint.yaml': BLUEPRINT }));
  await first.must(user, 'PUT', '/deployments/d', { blueprint_id: 'b' });
  [instance] = (await first.must(user, 'GET', '/node-instances?deployment_id=d')).items;
}, 120_000);
afterAll(async () => {
  await database?.end();
  await fleet?.stop();
}, 60_000);

interface Gate {
  as: () => Who;
  method: string;
  path: string;
  body?: object;
}

describe('S4', () => {
  const gates = (id: string): Gate[] => [
    ...(
      [
        ['POST', '/executions', { deployment_id: 'd', workflow_id: 'install', force: true }],
        ['POST', `/executions/${id}`, { action: 'force-cancel' }],
        ['PATCH', `/executions/${id}`, { status: 'terminated' }],
        ['DELETE', '/executions', { keep_last: 0 }],
        ['PUT', '/deployments/other', { blueprint_id: 'b', skip_plugins_validation: true }],
        ['DELETE', '/deployments/d?force=true', undefined],
        ['DELETE', '/deployments/d?ignore_live_nodes=true', undefined],
        ['DELETE', '/blueprints/b?force=true', undefined],
        ['PATCH', `/node-instances/${instance.id}`, { version: instance.version, state: 'started' }],
        ['POST', '/maintenance/activate', {}],
      ] as const
    ).map(([method, path, body]) => ({ as: () => viewer, method, path, body })),
    ...(
      [
        ['POST', '/executions', { deployment_id: 'd', workflow_id: 'install', id: 'chosen' }],
        ['POST', '/executions', { deployment_id: 'd', workflow_id: 'install', force_status: 'terminated' }],
        ['POST', '/executions', { deployment_id: 'd', workflow_id: 'install', is_system_workflow: true }],
        ['POST', '/executions', { deployment_id: '', workflow_id: 'install' }],
        ['PUT', '/deployments/other', { blueprint_id: 'b', created_by: 'admin' }],
        ['PUT', '/deployments/other', { blueprint_id: 'b', created_at: '2001-01-01 00:00:00' }],
        ['PUT', '/deployments/other', { blueprint_id: 'b', visibility: 'global' }],
        ['PATCH', '/blueprints/b/set-visibility', { visibility: 'global' }],
        ['POST', '/snapshots/s/restore', { force: true }],
        ['PUT', '/users', { username: 'x', password: PASSWORD, role: 'sys_admin' }],
        ['POST', '/users/viewer1', { role: 'sys_admin' }],
      ] as const
    ).map(([method, path, body]) => ({ as: () => user, method, path, body })),
  ];

  test('fields and flags that go around rules are refused without their right, changed nothing and are told in the log', async () => {
    const { id } = await first.must(user, 'POST', '/executions', {
      deployment_id: 'd',
      workflow_id: 'install',
    });
    const wrong: string[] = [];
    const asked = gates(id);
    for (const { as, method, path, body } of asked) {
      const answer = await first.send(as(), method, path, body);
      if (answer.status !== 403)
        wrong.push(
          `${as().user} ${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text.slice(0, 200)}`,
        );
    }
    expect(wrong).toEqual([]);
    expect((await first.must(user, 'GET', `/executions/${id}`)).status).not.toBe('terminated');
    expect((await first.must(user, 'GET', '/deployments?_include=id')).items).toEqual([{ id: 'd' }]);
    expect((await first.must(first.admin, 'GET', '/audit?creator_name=viewer1')).items).toEqual([]);
    const log = readFileSync(join(fleet.dir, 'logs/gateway.log'), 'utf8');
    // A repeated refusal is counted, not logged, for a minute.
    const kinds = new Set(
      asked.map(({ as, method, path }) => `${as().user} ${method} ${path.split('?', 1)}`),
    );
    expect(log.match(/"request refused"/g)?.length).toBeGreaterThanOrEqual(kinds.size);
    await first.must(user, 'POST', `/executions/${id}`, { action: 'force-cancel' });
  }, 30_000);

  test('the operations of the engine are not to be written by clients, whoever they are', async () => {
    const { rows } = await database.query(
      'select t.id, g.id as graph from executions.tasks t join executions.tasks_graphs g on g.id = t.graph_id limit 1',
    );
    for (const who of [viewer, user, first.admin]) {
      const body = { state: 'succeeded', agent_name: '', manager_name: '' };
      expect(
        (await first.send(who, 'PATCH', `/operations/${rows[0].id}`, body)).status,
      ).toBeGreaterThanOrEqual(400);
      expect((await first.send(who, 'DELETE', `/operations/${rows[0].id}`)).status).toBeGreaterThanOrEqual(
        400,
      );
    }
  });

  test('maintenance is passed by with the right to set it alone', async () => {
    await first.must(first.admin, 'POST', '/maintenance/activate', {});
    // The gateway that forwarded the change acts by it from its answer on, whichever connection the next request uses.
    const lists = await Promise.all(
      ['/sites', '/blueprints', '/executions'].map((path) => first.send(user, 'GET', path)),
    );
    expect(lists.map((list) => [list.status, list.body.error_code])).toEqual(
      lists.map(() => [503, 'maintenance_mode_active']),
    );
    const bypass = { 'x-bypass-maintenance': 'true' };
    // Other gateways ask when the message of the change arrives.
    const isOf = async (status: number) =>
      (await first.send(user, 'GET', '/sites')).status === status &&
      (await second.send(user, 'GET', '/sites')).status === status;
    await until(() => isOf(503));
    expect((await first.send({ ...user, headers: bypass }, 'GET', '/sites')).status).toBe(503);
    expect((await first.send({ ...first.admin, headers: bypass }, 'GET', '/sites')).status).toBe(200);
    await first.must(first.admin, 'POST', '/maintenance/deactivate', {});
    expect((await first.send(user, 'GET', '/sites')).status).toBe(200);
    await until(() => isOf(200));
  }, 60_000);
});

describe('S6', () => {
  const token = async (who: Who, by = first): Promise<Who & { value: string; id: string }> => {
    const { value, id } = await by.must(who, 'POST', '/tokens', { description: 'test' });
    return { user: null, tenant: TENANT, headers: { 'authentication-token': value }, value, id };
  };
  const seen = async (by: Caller, who: Who) => (await by.send(who, 'GET', '/sites')).status;
  /** Returns the milliseconds from now until both gateways refuse. */
  async function refusedAfterMs(who: Who, status = 401): Promise<number> {
    const from = performance.now();
    await until(async () => (await seen(first, who)) === status && (await seen(second, who)) === status);
    return performance.now() - from;
  }

  test('revoked tokens, gone rights and users are refused by every gateway within a second', async () => {
    const cases: [string, (name: string, held: { id: string }) => Promise<unknown>, number][] = [
      ['token', (_name, { id }) => first.must(first.admin, 'DELETE', `/tokens/${id}`), 401],
      [
        'member',
        (username) => first.must(first.admin, 'DELETE', '/tenants/users', { tenant_name: TENANT, username }),
        403,
      ],
      [
        'inactive',
        (username) => first.must(first.admin, 'POST', `/users/active/${username}`, { action: 'deactivate' }),
        401,
      ],
      [
        'removed',
        async (username) => {
          await first.must(first.admin, 'DELETE', '/tenants/users', { tenant_name: TENANT, username });
          await first.must(first.admin, 'DELETE', `/users/${username}`);
        },
        401,
      ],
    ];
    for (const [name, revoke, status] of cases) {
      const who = await token(await first.user(`revoked_${name}`, TENANT, 'user'), second);
      expect([await seen(first, who), await seen(second, who)]).toEqual([200, 200]);
      await revoke(`revoked_${name}`, who);
      expect([name, await refusedAfterMs(who, status)]).toEqual([name, expect.any(Number)]);
      expect(await refusedAfterMs(who, status)).toBeLessThan(1000);
    }
  }, 60_000);

  test('expired tokens, tokens in addresses and tokens that are nearly right are refused; only hashes are stored', async () => {
    const who = await token(user);
    expect(await seen(second, who)).toBe(200);
    for (const name of ['token', 'authentication_token', 'Authentication-Token'])
      expect(
        (await first.send({ user: null, tenant: TENANT }, 'GET', `/sites?${name}=${who.value}`)).status,
      ).toBe(401);
    for (const value of [
      `${who.value.slice(0, -1)}${who.value.endsWith('A') ? 'B' : 'A'}`,
      who.value.toUpperCase(),
      ` ${who.value}x`,
      who.value.slice(0, -1),
    ])
      expect(await seen(first, { ...who, headers: { 'authentication-token': value } })).toBe(401);
    const dump = await database.query("select string_agg(t::text, ' ') as rows from identity.tokens t");
    expect(dump.rows[0].rows).not.toContain(who.value.slice(16));
    await database.query('update identity.tokens set expiration_date = baton.app_now() where id = $1', [
      who.id,
    ]);
    // No message announces an expiry: gateways check again after BATON_CREDENTIAL_CACHE_MS.
    expect(await refusedAfterMs(who)).toBeLessThan(1500);
  }, 30_000);

  test('the token of an execution dies with it', async () => {
    const { id } = await first.must(user, 'POST', '/executions', {
      deployment_id: 'd',
      workflow_id: 'install',
    });
    await until(async () => (await first.must(user, 'GET', `/executions/${id}`)).status === 'started');
    const value = '0123456789abcdef0123456789abcdef';
    await database.query('update executions.executions set token_hash = $2 where id = $1', [
      id,
      createHash('sha256').update(value).digest('hex'),
    ]);
    const who: Who = { user: null, tenant: TENANT, headers: { 'execution-token': value } };
    expect([await seen(first, who), await seen(second, who)]).toEqual([200, 200]);
    await first.must(user, 'POST', `/executions/${id}`, { action: 'kill' });
    await until(async () => (await first.must(user, 'GET', `/executions/${id}`)).ended_at !== null);
    expect([await seen(first, who), await seen(second, who)]).toEqual([401, 401]);
  }, 30_000);

  test("the token of an administrator's execution works in its tenant and rules over nothing", async () => {
    const { admin } = first;
    await first.must(admin, 'POST', '/tenants/elsewhere');
    const there = { ...admin, tenant: 'elsewhere' };
    await first.must(there, 'PUT', '/secrets/theirs', { value: 'of-another-tenant' });
    const started = { deployment_id: 'd', workflow_id: 'install' };
    const { id } = await first.must(admin, 'POST', '/executions', started);
    const value = 'fedcba9876543210fedcba9876543210';
    const hash = createHash('sha256').update(value).digest('hex');
    await database.query('update executions.executions set token_hash = $2 where id = $1', [id, hash]);
    const who: Who = { user: null, tenant: TENANT, headers: { 'execution-token': value } };
    const root = { username: 'made-by-script', password: PASSWORD, role: 'sys_admin' };
    expect((await first.send(who, 'PUT', '/users', root)).status).toBe(403);
    expect((await first.send({ ...who, tenant: 'elsewhere' }, 'GET', '/secrets/theirs')).status).toBe(403);
    const all = await first.send(who, 'GET', '/secrets?_all_tenants=true');
    expect([all.status, all.text.includes('theirs')]).toEqual([200, false]);
    await first.must(who, 'PUT', '/secrets/ours', { value: 'made by a script' });
    const rules =
      /^\/(users|user-groups|tenants|permissions|tokens|snapshots|license|config|maintenance|managers|brokers|audit|log-bundles|ldap)\b/;
    const wrong: string[] = [];
    for (const { method, path, permission, body, versions } of allRoutes) {
      if (!versions.includes('v3.1') || !rules.test(path)) continue;
      // Every member of a tenant may list the managers and brokers, like the state of the cluster.
      if (['none', 'login', 'manager_get', 'broker_get'].includes(permission)) continue;
      const at = path.replace(/:\w+|\*/g, 'nosuch');
      const { status, body: said } = await first.send(who, method, at, body ? {} : undefined);
      if (status !== 403 || said?.error_code !== 'forbidden_error')
        wrong.push(`${method} ${path}: ${status}`);
    }
    expect(wrong).toEqual([]);
    const { items: brokers } = await first.must(who, 'GET', '/brokers');
    expect(brokers).toMatchObject([{ host: expect.any(String), username: null, password: null }]);
    await first.must(admin, 'POST', `/executions/${id}`, { action: 'kill' });
  }, 60_000);

  test('accounts lock after five failures, on every replica and for every credential, and open again', async () => {
    const locked = await first.user('locked', TENANT, 'user');
    const by = await token(locked);
    const bad = { ...locked, user: 'locked:wrong-password' };
    for (let i = 0; i < 5; i++) expect(await seen(i % 2 ? first : second, bad)).toBe(401);
    expect(await refusedAfterMs(locked)).toBeLessThan(1500);
    expect(await refusedAfterMs(by)).toBeLessThan(1500);
    expect((await first.must(first.admin, 'GET', '/users/locked')).is_locked).toBe(true);
    await first.must(first.admin, 'POST', '/users/unlock/locked', {});
    await until(async () => (await seen(first, locked)) === 200 && (await seen(second, locked)) === 200);
  }, 30_000);

  test('an unknown name takes as long as a wrong password', async () => {
    const ms = async (name: string): Promise<number> => {
      const from = performance.now();
      expect(await seen(first, { user: `${name}:wrong-password-${Math.random()}`, tenant: TENANT })).toBe(
        401,
      );
      return performance.now() - from;
    };
    const answers = [
      (await first.send({ user: 'nobody:wrong-password', tenant: TENANT }, 'GET', '/sites')).text,
      (await first.send({ user: 'user1:wrong-password', tenant: TENANT }, 'GET', '/sites')).text,
    ];
    expect(answers[0]).toBe(answers[1]);
    // Compares the fastest of many requests: other load of the machine only makes requests slower. (`commit_delay` of PostgreSQL
    // reveals a wait for the disk.)
    let ratio = 0;
    const isEven = async (): Promise<boolean> => {
      const quickest = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
      for (let i = 0; i < 40; i++) {
        quickest.known = Math.min(quickest.known, await ms('viewer1'));
        quickest.unknown = Math.min(quickest.unknown, await ms('nobody'));
      }
      ratio = quickest.known / quickest.unknown;
      return Math.abs(ratio - 1) <= 0.05;
    };
    await eventually(isEven, { deadlineMs: 120_000, everyMs: 20 });
    expect(Math.abs(ratio - 1)).toBeLessThanOrEqual(0.05);
    await first.must(first.admin, 'POST', '/users/unlock/viewer1', {});
  }, 180_000);
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  await eventually(isSo, { deadlineMs: 25_000, everyMs: 20 });
}
