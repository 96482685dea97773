import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@baton/kernel';
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

it('checks the archive of a snapshot, also when that is deleted meanwhile', async () => {
  const name = 'of-the-old-manager';
  const as = { ...admin, tenant: 'default_tenant' };
  const put = await call('PUT', `/snapshots/${name}/archive`, { text: S71, as });
  expect(put.status).toBe(201);
  const made = await call('POST', `/imports?snapshot=default_tenant/${name}`);
  expect([made.status, made.body.archive_bytes]).toEqual([201, S71.length]);
  expect((await call('DELETE', `/snapshots/${name}`, { as })).status).toBe(204);
  expect(await settled(made.body.id)).toMatchObject({ state: 'checked', source_version: 'cloudify 7.1.0' });
  for (const [query, more, code] of [
    [`snapshot=default_tenant/${name}`, {}, 'not_found_error'],
    [`snapshot=other/${name}`, {}, 'not_found_error'],
    [`snapshot=${name}`, {}, 'bad_parameters_error'],
    [`snapshot=default_tenant/${name}`, { text: S71 }, 'bad_parameters_error'],
    ['', {}, 'bad_parameters_error'],
  ] as const)
    expect((await call('POST', `/imports?${query}`, more)).body.error_code).toBe(code);
});

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

const SERVICES = ['identity', 'catalog', 'deployments', 'executions'] as const;
/** Everything that imports have written, by service. */
const everything = async () => Promise.all(SERVICES.map((service) => estate.things(service)));
async function emptied() {
  for (const service of SERVICES) await estate.run(service, 'delete from things');
}

it('applies what was checked; a repeat of the same archive changes nothing; then it is activated and deleted', async () => {
  await emptied();
  const found = await checked();
  const done = await apply(found);
  expect(done).toMatchObject({ state: 'applied', has_archive: false, error: '' });
  const written = await everything();
  const [, catalog, deployments] = written;
  const blueprint = JSON.parse(catalog!['blueprints default_tenant /snap-bp']!);
  expect(await cluster.blobs.stat(blueprint.archive.digest)).toEqual({ size: 439 });
  expect(estate.noted).toContain(blueprint.archive.digest);
  expect(Object.keys(deployments!).filter((key) => key.startsWith('node_instances'))).toHaveLength(6);
  const again = await checked();
  expect(again.counts.find((one: { type: string }) => one.type === 'deployments')).toMatchObject({ same: 2 });
  await apply(again, { keep_archive: true });
  expect(await everything()).toEqual(written);
  const { body } = await call('POST', `/imports/${again.id}/activate`, { json: { with_schedules: true } });
  expect(body).toEqual({ deployments: 4, schedules: 2 });
  expect(estate.activated[0]).toMatchObject({ tenant: 'default_tenant', withSchedules: true });
  expect((await shown(again.id)).has_archive).toBe(true);
  expect((await call('DELETE', `/imports/${again.id}`)).status).toBe(200);
  expect((await call('GET', `/imports/${again.id}`)).status).toBe(404);
  await eventually(async () => {
    await cluster.tick('drive-imports');
    const { rows } = await cluster.pool.query('select 1 from imports where id = $1', [again.id]);
    expect(rows).toEqual([]);
  });
});

it('refuses another report than the last, and an estate that changed since', async () => {
  await emptied();
  const found = await checked();
  const wrong = await call('POST', `/imports/${found.id}/apply`, { json: { report_digest: 'other' } });
  expect([wrong.status, wrong.body.error_code]).toEqual([409, 'conflict_error']);
  await estate.run(
    'deployments',
    "insert into things values ('deployments', 'default_tenant', '/snap-a', 'another one')",
  );
  const refused = await apply(found);
  expect(refused).toMatchObject({ state: 'refused', verdict: 'refused' });
  expect(refused.error).toContain('has changed since the check');
  expect(await reportOf(found.id, '&kind=fate')).toContainEqual(
    expect.objectContaining({ type: 'deployments', id: '/snap-a', fate: 'conflict' }),
  );
  const late = await call('POST', `/imports/${found.id}/apply`, {
    json: { report_digest: refused.report_digest },
  });
  expect([late.status, late.body.error_code]).toEqual([409, 'conflict_error']);
  await call('POST', `/imports/${found.id}/check`, { json: { options: { on_conflict: 'skip' } } });
  const skipping = await settled(found.id);
  expect((await apply(skipping)).state).toBe('applied');
  expect((await estate.things('deployments'))['deployments default_tenant /snap-a']).toBe('another one');
});

describe('a process dies', () => {
  const places = [
    'stage deployments',
    'rehearse executions',
    'apply identity',
    'apply deployments',
    'applied deployments',
    'applied executions',
  ];
  it.each(places)('at %s: the next one goes on, and the result is the same', async (place) => {
    await emptied();
    await apply(await checked());
    const whole = await everything();
    await emptied();
    let isDead = false;
    estate.at = (at) => {
      if (at !== place || isDead) return;
      isDead = true;
      throw new Error('killed');
    };
    const done = await apply(await checked());
    estate.at = () => undefined;
    expect(isDead).toBe(true);
    expect(done.state).toBe('applied');
    expect(await everything()).toEqual(whole);
  });
});

it('says which services have written when a later one refuses; a second import completes it', async () => {
  await emptied();
  await apply(await checked());
  const whole = await everything();
  await emptied();
  const found = await checked();
  estate.at = (at) => {
    if (at === 'apply executions')
      throw new AppError('conflict_error', 'Objects of this manager have changed since the check');
  };
  const failed = await apply(found);
  estate.at = () => undefined;
  expect(failed.state).toBe('failed');
  expect(failed.error).toContain('Written: identity, secrets, catalog, deployments');
  expect(await estate.things('executions')).toEqual({});
  await call('POST', `/imports/${found.id}/check`, { json: {} });
  expect((await apply(await settled(found.id))).state).toBe('applied');
  expect(await everything()).toEqual(whole);
});

it('takes chosen tenants under other names, and chosen deployments with what they need', async () => {
  await emptied();
  const renamed = await checked({ tenants: { default_tenant: 'moved' }, events: 'none' });
  expect(renamed.tenants).toEqual(['moved']);
  await apply(renamed);
  expect(Object.keys(await estate.things('deployments'))).toContain('deployments moved /snap-a');
  expect(Object.keys(await estate.things('identity'))).toEqual(['tenants  /moved']);
  const executions = Object.keys(await estate.things('executions'));
  expect(executions.filter((key) => key.startsWith('events'))).toEqual([]);
  expect(await reportOf(renamed.id, '&kind=total')).toContainEqual(
    expect.objectContaining({ type: 'events', code: 'events_not_asked', count: 73 }),
  );
  await emptied();
  await apply(await checked({ deployments: ['default_tenant/snap-b'] }));
  expect(
    Object.keys(await estate.things('deployments')).filter((key) => key.startsWith('deployments ')),
  ).toEqual(['deployments default_tenant /snap-b']);
  expect(Object.keys(await estate.things('catalog'))).toEqual(['blueprints default_tenant /snap-bp']);
  const missing = await checked({ deployments: ['default_tenant/none'] });
  expect(missing).toMatchObject({ state: 'refused', verdict: 'refused' });
  expect(missing.error).toContain('default_tenant/none is not in the archive');
});

it('gives what belongs to users who are not here to the caller, where users are only mapped', async () => {
  const found = await checked({ users: 'map' });
  const lines = await reportOf(found.id, '&kind=note');
  const owners = lines.filter(({ code }) => code === 'owner_not_here');
  expect(owners).toEqual([
    expect.objectContaining({ type: 'users', id: 'admin', text: expect.stringContaining('belong to admin') }),
  ]);
});

it('refuses what is no archive of a manager, and callers who may not', async () => {
  const broken = await checked({}, Buffer.from('this is no zip'));
  expect(broken).toMatchObject({ state: 'refused', verdict: 'refused', report_digest: null });
  const bad = await call('POST', `/imports?options=${encodeURIComponent('{"tenants":{"a":5}}')}`, {
    text: S71,
  });
  expect([bad.status, bad.body.field]).toEqual([400, 'options']);
  for (const as of [bob, { ...admin, executionId: 'e' }]) {
    const answer = await call('POST', '/imports', { text: S71, as });
    expect([answer.status, answer.body.error_code]).toEqual([403, 'forbidden_error']);
  }
  expect((await call('GET', `/imports/${broken.id}`, { as: bob })).status).toBe(403);
});

it('keeps keys sealed, and only while the import lives', async () => {
  const id = await upload({}, S71, '&hold=true');
  expect((await shown(id)).state).toBe('uploaded');
  await call('POST', `/imports/${id}/check`, {
    json: { encryption_key: 'canary-key', hash_salt: 'canary-salt' },
  });
  const found = await settled(id);
  const { rows } = await cluster.pool.query(
    'select row_to_json(i)::text as row, sealed from imports i where id = $1',
    [id],
  );
  expect(rows[0].sealed).not.toBeNull();
  expect(rows[0].row).not.toContain('canary');
  expect(JSON.stringify([found, await reportOf(id)])).not.toContain('canary');
  await apply(found);
  const after = await cluster.pool.query('select sealed from imports where id = $1', [id]);
  expect(after.rows).toEqual([{ sealed: null }]);
});
