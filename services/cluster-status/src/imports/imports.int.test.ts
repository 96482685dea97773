import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { admin, bob, startCluster } from '../testing/cluster-setup';
import { type EstateServices, startEstateServices } from './testing/estate-services';

const S71 = readFileSync(
  join(__dirname, '../../../../packages/cloudify-archive/test-archives/cloudify-7.1-community.zip'),
);

let estate: EstateServices;
let cluster: Awaited<ReturnType<typeof startCluster>>;
beforeAll(async () => {
  estate = await startEstateServices();
  cluster = await startCluster({}, 'spec', estate.serve);
});
afterAll(async () => {
  await cluster.close();
  await estate.close();
});

const call = (method: string, path: string, more = {}) => cluster.call(method, path, more);

async function upload(options: object = {}, archive: Buffer = S71, more = '') {
  const made = await call('POST', `/imports?options=${encodeURIComponent(JSON.stringify(options))}${more}`, {
    text: archive,
  });
  expect(made.status).toBe(201);
  return made.body.id as string;
}

async function shown(id: string) {
  const { status, body } = await call('GET', `/imports/${id}`);
  expect([status, body]).toEqual([200, expect.objectContaining({ id })]);
  return body;
}

/** Waits for the end of what an import is doing. */
const settled = (id: string) =>
  eventually(async () => {
    await cluster.tick('drive-imports');
    const found = await shown(id);
    expect(['checked', 'applied', 'refused', 'failed']).toContain(found.state);
    return found;
  });

const checked = async (options: object = {}, archive: Buffer = S71) =>
  settled(await upload(options, archive));
const reportOf = async (id: string, more = '') =>
  (await call('GET', `/imports/${id}/report?_size=10000${more}`)).body.items as Record<string, unknown>[];
async function apply(found: { id: string; report_digest: string }, more: object = {}) {
  const { status, body } = await call('POST', `/imports/${found.id}/apply`, {
    json: { report_digest: found.report_digest, ...more },
  });
  expect([status, body.error_code]).toEqual([200, undefined]);
  return settled(found.id);
}

it('checks a real archive, changes nothing, and accounts for every record', async () => {
  const found = await checked();
  expect(found).toMatchObject({
    state: 'checked',
    format: 'cloudify',
    source_version: 'cloudify 7.1.0',
    verdict: 'losses',
    deployments_with_agents: 0,
    tenants: ['default_tenant', 't2'],
    archive_bytes: S71.length,
    error: '',
  });
  const byType = Object.fromEntries(found.counts.map((one: { type: string }) => [one.type, one]));
  expect(byType.deployments).toMatchObject({ read: 2, imported: 2, lost: 0 });
  expect(byType.secrets).toMatchObject({ read: 2, lost: 2 });
  for (const { type, read, imported, same, skipped, replaced, lost, conflicts } of found.counts)
    expect([type, imported + same + skipped + replaced + lost + conflicts]).toEqual([type, read]);
  const lines = await reportOf(found.id);
  expect(lines).toContainEqual(
    expect.objectContaining({ kind: 'fate', type: 'secrets', id: 'snap-secret', code: 'type_not_taken' }),
  );
  expect(JSON.stringify(lines)).not.toContain('s3cr3t-value');
  for (const service of ['identity', 'catalog', 'deployments', 'executions'] as const) {
    expect(await estate.things(service)).toEqual({});
    const { rows } = await estate.run(service, 'select count(*)::int as n from import_staging');
    expect(rows).toEqual([{ n: 0 }]);
  }
});
