// S27: a statement without a tenant condition returns only rows of the request's own tenant, and writes no others; all other work
// is unaffected. The requests of the services are restricted in this way in both modes.

import { join } from 'node:path';
import type { Principal, RouteContract } from '@baton/contracts';
import { createHttpApp, type HttpApp, principalHeader, signPrincipal } from '@baton/http';
import { Secret, silentLog } from '@baton/kernel';
import { createDb, type Db, outsideRequests, runMigrations } from '@baton/postgres';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { eventually } from '@baton/testkit/eventually';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { derivedTrust } from '@baton/trust';
import pg from 'pg';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf, type Who } from './caller';

const services = join(__dirname, '../../services');

describe('in one service', () => {
  const key = new Secret('row-security-internal-key');
  let database: TestDatabase;
  // biome-ignore lint/suspicious/noExplicitAny: statements in plain SQL.
  let db: Db<any>;
  let app: HttpApp;
  let port: number;
  let run: () => Promise<unknown>;

  beforeAll(async () => {
    const migrations = [{ schema: 'deployments', dir: join(services, 'deployments/migrations') }];
    database = await testDatabase({ migrations });
    db = createDb({
      url: database.url,
      schema: 'deployments',
      applicationName: 'test',
      log: silentLog,
      maxConnections: 3,
    });
    const route = (id: string, method: 'GET' | 'POST'): RouteContract => ({
      id,
      owner: 'deployments',
      method,
      path: `/${id}`,
      versions: ['v3.1'],
      permission: 'login',
      tenant: 'required',
      summary: id,
      spec: 'extension',
      isNotAudited: true,
      status: 200,
    });
    const handler = async () => ({ result: await run() });
    app = createHttpApp({
      service: 'deployments',
      routes: [
        { contract: route('reading', 'GET'), handler },
        { contract: route('writing', 'POST'), handler },
      ] as never,
      trust: derivedTrust('deployments', key),
      log: silentLog,
      wire: 'spec',
    });
    port = await app.listen('127.0.0.1', 0);
    await db.pool.query(`insert into sites (tenant, name, visibility, created_by)
      select tenant, tenant || '-' || visibility, visibility, 'x' from unnest(array['a', 'b']) tenant, unnest(array['private', 'tenant', 'global']) visibility`);
  }, 60_000);
  afterAll(async () => {
    await app?.close();
    await db?.close();
    await database?.drop();
  });

  async function asTenant(tenant: string, work: () => Promise<unknown>, method = 'GET'): Promise<unknown> {
    run = work;
    const principal = {
      username: 'u',
      userId: 1,
      tenant,
      role: 'user',
      roles: ['user'],
      permissions: [],
      tenants: [],
      authMethod: 'token',
      isBootstrapAdmin: false,
    } as unknown as Principal;
    const response = await fetch(
      `http://127.0.0.1:${port}/api/v3.1/${method === 'GET' ? 'reading' : 'writing'}`,
      {
        method,
        headers: {
          [principalHeader]: signPrincipal(principal, derivedTrust('gateway', key).identity, 'deployments'),
        },
      },
    );
    const body = (await response.json()) as { result?: unknown; error_code?: string };
    return response.status === 200 ? body.result : body.error_code;
  }
  const names = (text: string) => async () =>
    (await db.pool.query(`select name from sites ${text} order by name`)).rows.map(({ name }) => name);
  const ofA = ['a-global', 'a-private', 'a-tenant', 'b-global'];

  test('reads that forget the tenant answer its rows and global ones, whichever connection they get', async () => {
    expect(await asTenant('a', names(''))).toEqual(ofA);
    const many = await Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        // Only one handler can be set at a time: each tenant sends the same statement.
        return asTenant(i % 3 === 0 ? 'b' : 'a', names(`where visibility = 'private'`));
      }),
    );
    expect(many).toEqual(Array.from({ length: 30 }, (_, i) => [i % 3 === 0 ? 'b-private' : 'a-private']));
    expect(await asTenant("x'; reset role; --", names(`where visibility <> 'global'`))).toEqual([]);
    expect(await names('')()).toHaveLength(6);
  });

  test('writes that forget the tenant change its rows alone, and none can be put elsewhere', async () => {
    const touched = () =>
      db.tx(async (tx) =>
        (await tx.updateTable('sites').set({ created_by: 'y' }).executeTakeFirst()).numUpdatedRows.toString(),
      );
    expect(await asTenant('a', touched, 'POST')).toBe('3');
    const removed = () =>
      db.tx(async (tx) =>
        (
          await tx.deleteFrom('sites').where('visibility', '=', 'private').executeTakeFirst()
        ).numDeletedRows.toString(),
      );
    expect(await asTenant('a', removed, 'POST')).toBe('1');
    const moved = (tenant: string) => () =>
      db.pool
        .query(
          `insert into sites (tenant, name, visibility, created_by) values ($1, 'new', 'private', 'x')`,
          [tenant],
        )
        .then(
          () => 'in',
          (error) => error.code,
        );
    expect(await asTenant('a', moved('b'), 'POST')).toBe('42501');
    expect(await asTenant('a', moved('a'), 'POST')).toBe('in');
    // Changes compare names across tenants; their writes stay in the right tenant.
    expect(await asTenant('a', names(`where visibility = 'private'`), 'POST')).toEqual(['b-private', 'new']);
  });

  test('work that a request sets off for others, and work without a request, sees everything', async () => {
    let later: Promise<string[]> | undefined;
    await asTenant('a', async () => {
      await outsideRequests(async () => expect(await names('')()).toContain('b-tenant'));
      later = letTimePass(50, 'until the request is answered').then(names(''));
      return null;
    });
    expect(await later).toContain('b-tenant');
  });

  test('the tenant is looked up once a statement, not once a row; policies of older releases are replaced', async () => {
    const migrate = () =>
      runMigrations({
        url: database.url,
        schema: 'deployments',
        dir: join(services, 'deployments/migrations'),
        log: silentLog,
      });
    const plan = async () => {
      const { rows } = await db.pool.query<Record<string, string>>('explain select name from sites');
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const once = /Filter: .*\(tenant = \$\d\)|Filter: .*\(tenant = \(InitPlan/;
    expect(await asTenant('a', plan)).toMatch(once);
    await db.pool.query(
      `alter policy tenant_reads on sites using (tenant = current_setting('baton.tenant', true) or visibility = 'global')`,
    );
    expect(await asTenant('a', plan)).not.toMatch(once);
    await migrate();
    expect(await asTenant('a', plan)).toMatch(once);
    expect(await asTenant('a', names(`where tenant <> 'a'`))).toEqual(['b-global']);
  });

  test('tables of tenants that have no policies yet get them; a user who may not have the role is told what to do', async () => {
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    const { rows } = await admin.query(`select relname from pg_class where relrowsecurity order by 1`);
    expect(rows.map(({ relname }) => relname)).toEqual(
      expect.arrayContaining(['deployments', 'node_instances', 'sites']),
    );
    const user = `baton_poor_${process.pid}`;
    await admin.query(`create role ${user} login password 'poor'`);
    try {
      const url = new URL(database.url);
      url.username = user;
      url.password = 'poor';
      const poor = createDb({
        url: url.href,
        schema: 'deployments',
        applicationName: 'test',
        log: silentLog,
      });
      await expect(poor.requireRowSecurity()).rejects.toThrow(/BATON_ROW_SECURITY=off/);
      await poor.close();
    } finally {
      await admin.query(`drop role ${user}`);
      await admin.end();
    }
  });
});

describe.each(['standalone', 'services'] as const)('%s', (mode) => {
  let fleet: Fleet;
  let database: TestDatabase | undefined;
  let caller: Caller;
  let user: Who;
  let admin: pg.Client;

  beforeAll(async () => {
    database = mode === 'standalone' ? await testDatabase({ migrations: [] }) : undefined;
    fleet = await startFleet({ mode, env: database ? { DATABASE_URL: database.url } : {} });
    caller = callerOf(fleet);
    user = await caller.user('user1', 'default_tenant', 'user');
    admin = new pg.Client({ connectionString: database?.url ?? fleet.databaseUrl });
    await admin.connect();
  }, 120_000);
  afterAll(async () => {
    await admin?.end();
    await fleet?.stop();
    await database?.drop();
  }, 60_000);

  const lists = [
    '/blueprints',
    '/plugins',
    '/filters/blueprints',
    '/deployments',
    '/node-instances',
    '/sites',
    '/secrets',
    '/executions',
    '/events',
  ];
  const shown = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const path of lists)
      if ((await caller.must(user, 'GET', `${path}?_size=1`)).items.length > 0) found.push(path);
    return found;
  };
  const READS = `tenant = (select current_setting('baton.tenant', true)) or visibility = 'global' or (select current_setting('baton.reach', true)) = 'all'`;
  /** Replaces the condition in the policies that restrict requests to a tenant. */
  async function bindTo(condition: string): Promise<void> {
    const { rows } = await admin.query(
      `select format('alter policy %I on %I.%I using (${condition.replaceAll("'", "''")})', policyname, schemaname, tablename) as text from pg_policies where policyname = 'tenant_reads'`,
    );
    for (const { text } of rows) await admin.query(text);
  }

  test('requests are under the policies, the engine is not', async () => {
    const blueprint =
      'tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\nnode_templates: {n: {type: cloudify.nodes.Root}}\n';
    await caller.must(user, 'PUT', '/blueprints/b', undefined, tgz({ 'blueprint.yaml': blueprint }));
    await caller.must(user, 'PUT', '/deployments/d', { blueprint_id: 'b' });
    await caller.must(user, 'PUT', '/sites/s', {});
    await caller.must(user, 'PUT', '/secrets/s', { value: 'v' });
    await caller.must(user, 'PUT', '/filters/blueprints/f', { filter_rules: [] });
    const { id } = await caller.must(user, 'POST', '/executions', {
      deployment_id: 'd',
      workflow_id: 'install',
    });
    await bindTo('false');
    // Regardless of the statements, the database now returns no rows to requests.
    expect(await shown()).toEqual([]);
    const { rows: ended } = await untilRows(() =>
      admin.query(`select 1 from executions.executions where id = $1 and status = 'terminated'`, [id]),
    );
    expect(ended).toHaveLength(1);
    await bindTo(READS);
    expect(await shown()).toEqual(lists.filter((path) => path !== '/plugins'));
  }, 60_000);
});

async function untilRows(ask: () => Promise<pg.QueryResult>): Promise<pg.QueryResult> {
  let found = await ask();
  const isThere = async (): Promise<boolean> => {
    found = await ask();
    return found.rows.length > 0;
  };
  // On a timeout the test judges the current rows.
  await eventually(isThere, { deadlineMs: 25_000, everyMs: 50 }).catch(() => undefined);
  return found;
}
