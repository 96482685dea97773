// While a snapshot takes effect, service by service, nobody may write: gateways refuse changes from before the first service
// switches until the last one has switched, even if the restoring process dies in between. The restore waits for running changes.

import { request as httpRequest } from 'node:http';
import { eventually } from '@baton/testkit/eventually';
import pg from 'pg';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from '../security/caller';

const BLUEPRINT = tgz({ 'blueprint.yaml': 'tosca_definitions_version: cloudify_dsl_1_4\ninputs: {}\n' });
let fleet: Fleet;
let callers: Caller[];
let database: pg.Client;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'services', gateways: 2, workers: 0 });
  callers = fleet.baseUrls.map((baseUrl) => callerOf(fleet, baseUrl));
  database = new pg.Client({ connectionString: fleet.databaseUrl });
  await database.connect();
}, 120_000);
afterAll(async () => {
  await database?.end();
  await fleet?.stop();
}, 60_000);

/** Starts an upload through the second gateway, of which only the first bytes have been sent. */
function openUpload(): { finish(): Promise<number> } {
  const { hostname, port } = new URL(fleet.baseUrls[1]!);
  const authorization = `Basic ${Buffer.from(`admin:${fleet.adminPassword}`).toString('base64')}`;
  const headers = { authorization, tenant: 'default_tenant', 'content-type': 'application/octet-stream' };
  const sent = httpRequest({ hostname, port, path: '/api/v3.1/blueprints/slow', method: 'PUT', headers });
  const answered = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject);
  });
  sent.write(BLUEPRINT.subarray(0, 10));
  return {
    finish() {
      sent.end(BLUEPRINT.subarray(10));
      return answered;
    },
  };
}

const countOf = async (text: string): Promise<number> => Number((await database.query(text)).rows[0].n);
const switched = () =>
  countOf(
    `select (select count(*) from catalog.snapshot_switches) + (select count(*) from executions.snapshot_switches) as n`,
  );
const put = async (): Promise<number[]> =>
  Promise.all(
    callers.map(async (caller) => (await caller.send(caller.admin, 'PUT', '/sites/late', {})).status),
  );

test('writes are refused by every gateway from before the first switch to after the last, reads are answered', async () => {
  const [first] = callers as [Caller];
  await first.must(first.admin, 'PUT', '/sites/s', {});
  const made = await first.must(first.admin, 'PUT', '/snapshots/s1', {});
  await until(
    async () => (await first.must(first.admin, 'GET', `/executions/${made.id}`)).status === 'terminated',
  );
  // This lock delays the last service to switch.
  const holder = new pg.Client({ connectionString: fleet.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table executions.execution_groups in access share mode');
  const upload = openUpload();

  const { id } = await first.must(first.admin, 'POST', '/snapshots/s1/restore', { force: true });
  // Both gateways know about the restore, and the second waits for the upload.
  const acting = `select count(*) as n from cluster_status.instances where acts_by`;
  await until(
    async () =>
      (await countOf(`${acting} = 'draining'`)) === 1 && (await countOf(`${acting} = 'restoring'`)) === 1,
  );
  expect(await put()).toEqual([503, 503]);
  expect(await switched()).toBe(0);
  expect(await upload.finish()).toBe(201);

  await until(async () => (await switched()) === 1);
  expect(await put()).toEqual([503, 503]);
  const refused = await fetch(`${fleet.baseUrl}/api/v3.1/sites/late`, {
    method: 'PUT',
    headers: {
      authorization: `Basic ${Buffer.from(`admin:${fleet.adminPassword}`).toString('base64')}`,
      tenant: 'default_tenant',
      'content-type': 'application/json',
    },
    body: '{}',
  });
  expect([
    refused.headers.get('retry-after'),
    ((await refused.json()) as { message: string }).message,
  ]).toEqual(['1', expect.stringMatching(/being restored/)]);
  expect((await first.send(first.admin, 'GET', '/sites')).status).toBe(200);

  const restoring = fleet.processes.get('cluster-status')!;
  restoring.signal('SIGKILL');
  await restoring.ended();
  expect(await put()).toEqual([503, 503]);
  restoring.start();
  await until(async () => (await first.send(first.admin, 'GET', '/version')).status === 200);
  expect(await put()).toEqual([503, 503]);

  await holder.query('rollback');
  await holder.end();
  await until(async () => (await put()).every((status) => status < 300 || status === 409));
  await until(
    async () => (await first.must(first.admin, 'GET', `/executions/${id}`)).status === 'terminated',
  );
  // Changes that were accepted before the decision belong to the old state.
  expect((await first.must(first.admin, 'GET', '/blueprints')).items).toEqual([]);
}, 120_000);

async function until(isSo: () => Promise<boolean>): Promise<void> {
  await eventually(isSo, { deadlineMs: 50_000, everyMs: 50 });
}
