import { eventually } from '@baton/testkit';
import { blueprintTgz, zipOf } from './testing/archives';
import { admin, startCatalog, type TestCatalog, userOf } from './testing/catalog-setup';

const TYPES = 'node_types:\n  root: {}\n';
const MAIN = `tosca_definitions_version: cloudify_dsl_1_4\ndescription: a test\ninputs:\n  port: {default: 80}\nblueprint_labels:\n  Team: {values: [red, blue]}\n${TYPES}node_templates:\n  web: {type: root}\n`;
const BROKEN = `tosca_definitions_version: cloudify_dsl_1_4\n${TYPES}node_templates:\n  web: {type: rot}\n  db: {type: nothing}\n`;

let catalog: TestCatalog;
let call: TestCatalog['call'];
beforeAll(async () => {
  catalog = await startCatalog();
  ({ call } = catalog);
});
afterAll(() => catalog.close());

const octets = 'application/octet-stream';
async function upload(
  id: string,
  files: Record<string, string> = { 'blueprint.yaml': MAIN },
  query = '',
  as = admin,
) {
  return call('PUT', `/blueprints/${id}${query}`, {
    raw: await blueprintTgz(files),
    contentType: octets,
    as,
  });
}

describe('upload', () => {
  it('parses, answers 201 with plan and labels, and gives the archive back as it came', async () => {
    const archive = await blueprintTgz({ 'blueprint.yaml': MAIN });
    const answer = await call('PUT', '/blueprints/first', { raw: archive, contentType: octets });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      id: 'first',
      state: 'uploaded',
      main_file_name: 'blueprint.yaml',
      description: 'a test',
      created_by: 'admin',
      tenant_name: 'default_tenant',
      visibility: 'tenant',
      private_resource: false,
      upload_execution: null,
      error: null,
      is_hidden: false,
      labels: [
        { key: 'team', value: 'blue', creator_id: 0, created_by: 'admin' },
        { key: 'team', value: 'red' },
      ],
    });
    expect(answer.body.plan.inputs).toEqual({ port: { default: 80 } });
    expect(answer.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const download = await call('GET', '/blueprints/first/archive');
    expect(download.bytes.equals(archive)).toBe(true);
    expect(download.headers.get('content-disposition')).toContain('first.tar.gz');
    expect(download.headers.get('content-length')).toBe(String(archive.length));
    expect((await upload('first')).body.error_code).toBe('conflict_error');
  });

  it('takes zip, multipart with params, and a chunked body that calls itself JSON', async () => {
    const zip = zipOf([{ name: 'bp/app.yaml', content: MAIN }]);
    expect(
      (
        await call('PUT', '/blueprints/zipped?application_file_name=app.yaml&labels=env=prod,env=dev', {
          raw: zip,
          contentType: octets,
        })
      ).body.labels,
    ).toMatchObject([
      { key: 'env', value: 'dev' },
      { key: 'env', value: 'prod' },
    ]);
    const form = new FormData();
    form.append(
      'params',
      JSON.stringify({
        visibility: 'private',
        application_file_name: 'blueprint.yaml',
        labels: [{ key: 'Mixed', value: 'CaSe' }],
      }),
    );
    form.append(
      'blueprint_archive',
      new Blob([new Uint8Array(await blueprintTgz({ 'blueprint.yaml': MAIN }))]),
      'x',
    );
    const encoded = new Response(form);
    const multipart = {
      raw: Buffer.from(await encoded.arrayBuffer()),
      contentType: encoded.headers.get('content-type')!,
    };
    const parted = await call('PUT', '/blueprints/parted', multipart);
    expect(parted.body).toMatchObject({ visibility: 'private', labels: [{ key: 'mixed', value: 'CaSe' }] });
    const stream = new Blob([new Uint8Array(await blueprintTgz({ 'blueprint.yaml': MAIN }))]).stream();
    expect(
      (await call('PUT', '/blueprints/chunked', { raw: stream, contentType: 'application/json' })).status,
    ).toBe(201);
  });

  it('answers every fault of the blueprint with its place, and keeps nothing', async () => {
    const answer = await upload('broken', { 'blueprint.yaml': BROKEN });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error_code: 'invalid_blueprint_error', server_traceback: null });
    expect(answer.body.diagnostics).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ file: 'blueprint.yaml', line: 5, nearest: 'root' }),
        expect.objectContaining({ file: 'blueprint.yaml', line: 6 }),
      ]),
    );
    expect((await call('GET', '/blueprints/broken')).status).toBe(404);
  });

  it('resolves imports inside the archive and scripts beside the blueprint', async () => {
    const answer = await upload('imports', {
      'blueprint.yaml':
        'tosca_definitions_version: cloudify_dsl_1_4\nimports: [lib/types.yaml]\nnode_templates:\n  web: {type: root, interfaces: {ops: {go: scripts/go.sh}}}\n',
      'lib/types.yaml': `imports: [more.yaml]\n${TYPES}plugins:\n  script: {executor: central_deployment_agent, install: false}\n`,
      'lib/more.yaml': 'inputs: {port: {default: 1}}\n',
      'scripts/go.sh': '#!/bin/sh',
    });
    expect([answer.status, answer.body.diagnostics]).toEqual([201, undefined]);
    expect(answer.body.plan.inputs.port).toMatchObject({ default: 1 });
    expect(JSON.stringify(answer.body.plan.nodes)).toContain('scripts/go.sh');
  });

  it('imports other blueprints that the user may see', async () => {
    await upload('base');
    const text = 'tosca_definitions_version: cloudify_dsl_1_4\nimports: [ns--blueprint:base]\n';
    expect((await upload('derived', { 'blueprint.yaml': text })).body.plan.imported_blueprints).toEqual([
      'base',
    ]);
    const foreign = await upload('derived', { 'blueprint.yaml': text }, '', userOf('eve', 'other'));
    expect(foreign.body.error_code).toBe('invalid_blueprint_error');
    const refused = await call('DELETE', '/blueprints/base');
    expect([refused.status, refused.body.error_code]).toEqual([405, 'blueprint_in_use']);
    expect((await call('DELETE', '/blueprints/base?force=true')).status).toBe(204);
  });

  it.each([
    [
      'a main file that is not there',
      'application_file_name=blueprint.yml',
      'invalid_blueprint_error',
      'blueprint.yaml',
    ],
    ['a main file outside', 'application_file_name=../../etc/passwd', 'bad_parameters_error', undefined],
    [
      'a doubly quoted main file outside',
      'application_file_name=%252e%252e%252fpasswd',
      'bad_parameters_error',
      undefined,
    ],
    ['an unknown visibility', 'visibility=rubbish', 'bad_parameters_error', undefined],
    ['a bad label', 'labels=notalabel', 'bad_parameters_error', undefined],
    ['a reserved label', 'labels=csys-nope=x', 'bad_parameters_error', undefined],
    ['URL and body', 'blueprint_archive_url=http://8.8.8.8/x', 'bad_parameters_error', undefined],
  ])('refuses %s', async (_what, query, code, nearest) => {
    const answer = await upload('refused', undefined, `?${query}`);
    expect([answer.status, answer.body.error_code, answer.body.nearest]).toEqual([400, code, nearest]);
  });

  it('refuses bad ids, no archive, hostile archives and internal addresses', async () => {
    expect((await upload('1bad')).body.error_code).toBe('bad_parameters_error');
    expect((await call('PUT', '/blueprints/none')).body).toMatchObject({
      error_code: 'bad_parameters_error',
      field: 'blueprint_archive_url',
    });
    const slip = await call('PUT', '/blueprints/slip', {
      raw: zipOf([{ name: 'bp/../../evil' }]),
      contentType: octets,
    });
    expect([slip.status, slip.body]).toEqual([
      400,
      expect.objectContaining({ error_code: 'invalid_blueprint_error', entry: 'bp/../../evil' }),
    ]);
    const inside = await call('PUT', '/blueprints/ssrf?blueprint_archive_url=http://127.0.0.1:5432/');
    expect([inside.status, inside.body.field]).toEqual([400, 'blueprint_archive_url']);
    expect((await call('GET', '/blueprints?_include=id&id=slip&id=ssrf')).body.items).toEqual([]);
  });

  it('validates without keeping anything', async () => {
    const raw = await blueprintTgz({ 'blueprint.yaml': MAIN });
    expect((await call('PUT', '/blueprints/checked/validate', { raw, contentType: octets })).status).toBe(
      204,
    );
    const bad = await call('PUT', '/blueprints/checked/validate', {
      raw: await blueprintTgz({ 'blueprint.yaml': BROKEN }),
      contentType: octets,
    });
    expect([bad.status, bad.body.diagnostics.length]).toEqual([400, 2]);
    expect((await call('GET', '/blueprints/checked')).status).toBe(404);
  });

  it('two uploads of one id at once: one wins', async () => {
    const both = await Promise.all([upload('race'), upload('race')]);
    expect(both.map((a) => a.status).sort()).toEqual([201, 409]);
  });
});

describe('asynchronous upload', () => {
  const state = async (id: string) => (await call('GET', `/blueprints/${id}`)).body;

  it('answers at once, ends uploaded', async () => {
    const accepted = await upload('later', undefined, '?async_upload=true');
    expect([accepted.status, accepted.body.state, accepted.body.plan]).toEqual([201, 'uploading', null]);
    await eventually(async () =>
      expect(await state('later')).toMatchObject({
        state: 'uploaded',
        plan: expect.anything(),
        labels: [{}, {}],
      }),
    );
  });

  it('keeps a failed row with its reason until a new upload takes the id', async () => {
    await upload('faulty', { 'blueprint.yaml': BROKEN }, '?async_upload=true');
    await eventually(async () => expect(await state('faulty')).toMatchObject({ state: 'invalid' }));
    expect((await state('faulty')).error).toMatch(/Invalid blueprint - .*nothing.*and 1 more/);
    expect((await state('faulty')).error_traceback).toMatch(/blueprint\.yaml:6:.*blueprint\.yaml:5:/s);
    // A body that is no archive is refused at once, and also leaves its row.
    const rubbish = await call('PUT', '/blueprints/noarchive?async_upload=true', {
      raw: Buffer.from('rubbish'),
      contentType: octets,
    });
    expect([rubbish.status, rubbish.body.error_code]).toEqual([400, 'bad_parameters_error']);
    expect(await state('noarchive')).toMatchObject({
      state: 'failed_uploading',
      error: rubbish.body.message,
    });
    await call('PUT', '/blueprints/nourl?async_upload=true&blueprint_archive_url=http://127.0.0.1:1/x');
    await eventually(async () => expect(await state('nourl')).toMatchObject({ state: 'failed_uploading' }));
    expect((await upload('faulty')).body).toMatchObject({ state: 'uploaded', error: null });
    expect((await call('DELETE', '/blueprints/nourl')).status).toBe(204);
  });

  it('is finished by whoever runs when the first replica died', async () => {
    const raw = await blueprintTgz({ 'blueprint.yaml': MAIN });
    const { digest, size } = await catalog.blobs.put((await import('node:stream')).Readable.from([raw]));
    // State after a replica that died while parsing: the row is leased to it, and the lease has expired.
    await catalog.db.pool.query(
      `insert into blueprints (tenant, id, upload_id, created_by, creator_id, visibility, state, archive_digest, archive_size, upload_execution_id, lease_owner, lease_until, attempts)
       values ('default_tenant', 'orphan', gen_random_uuid(), 'ann', 3, 'tenant', 'extracting', $1, $2, gen_random_uuid(), 'dead', app_now() - interval '1 s', 1),
              ('default_tenant', 'poison', gen_random_uuid(), 'ann', 3, 'tenant', 'extracting', $1, $2, gen_random_uuid(), 'dead', app_now() - interval '1 s', 3),
              ('default_tenant', 'running', gen_random_uuid(), 'ann', 3, 'tenant', 'parsing', $1, $2, gen_random_uuid(), 'alive', app_now() + interval '1 h', 1)`,
      [digest, size],
    );
    await catalog.parts.loops.find((l) => l.name === 'finish-uploads')!.tickOnce();
    expect(await state('orphan')).toMatchObject({
      state: 'uploaded',
      created_by: 'ann',
      labels: [{ creator_id: 3 }, {}],
    });
    expect(await state('poison')).toMatchObject({
      state: 'failed_extracting',
      error: expect.stringContaining('3 attempts'),
    });
    expect(await state('running')).toMatchObject({ state: 'parsing' });
    const refused = await call('DELETE', '/blueprints/running');
    expect([refused.status, refused.body.error_code]).toEqual([400, 'invalid_blueprint_error']);
    expect((await call('DELETE', '/blueprints/running?force=true')).status).toBe(204);
  });
});

describe('visibility', () => {
  const ann = userOf('ann', 'vis', 11);
  const bob = userOf('bob', 'vis', 12);
  it('hides private blueprints from others as if they were not there', async () => {
    await upload('secretive', undefined, '?visibility=private', ann);
    for (const path of ['/blueprints/secretive', '/blueprints/secretive/archive']) {
      expect((await call('GET', path, { as: bob })).status).toBe(404);
      expect((await call('GET', path, { as: ann })).status).toBe(200);
    }
    expect((await call('DELETE', '/blueprints/secretive', { as: bob })).status).toBe(404);
    expect((await call('GET', '/blueprints', { as: bob })).body.metadata.pagination.total).toBe(0);
  });

  it('widens only, and global needs the right and a free id', async () => {
    const set = (visibility: string, as = ann) =>
      call('PATCH', '/blueprints/wide/set-visibility', { json: { visibility }, as });
    await upload('wide', undefined, '?visibility=private', ann);
    expect((await set('tenant')).body.visibility).toBe('tenant');
    expect((await set('private')).body.error_code).toBe('bad_parameters_error');
    expect((await set('global')).body.error_code).toBe('forbidden_error');
    await upload('wide', undefined, '', userOf('zoe', 'elsewhere'));
    expect((await set('global', { ...admin, tenant: 'vis' })).body.error_code).toBe('conflict_error');
    await call('DELETE', '/blueprints/wide', { as: userOf('zoe', 'elsewhere') });
    expect((await set('global', { ...admin, tenant: 'vis' })).body.visibility).toBe('global');
    expect((await set('tenant', { ...admin, tenant: 'vis' })).body.error_code).toBe('illegal_action_error');
    const elsewhere = userOf('zoe', 'elsewhere');
    expect((await call('GET', '/blueprints/wide', { as: elsewhere })).body.tenant_name).toBe('vis');
    expect((await upload('wide', undefined, '', elsewhere)).status).toBe(409);
    expect((await call('DELETE', '/blueprints/wide', { as: elsewhere })).body.error_code).toBe(
      'illegal_action_error',
    );
  });
});

it('is not deleted while deployments exist, force or not', async () => {
  await upload('deployed');
  catalog.deployments.set('deployed', ['d1', 'd2']);
  for (const query of ['', '?force=true']) {
    const refused = await call('DELETE', `/blueprints/deployed${query}`);
    expect([refused.status, refused.body.error_code, refused.body.deployments]).toEqual([
      400,
      'dependent_exists_error',
      ['d1', 'd2'],
    ]);
  }
  catalog.deployments.clear();
  expect((await call('DELETE', '/blueprints/deployed')).status).toBe(204);
  expect((await call('DELETE', '/blueprints/deployed')).status).toBe(404);
});

it('v2.1 shows its own fields and times, and deletes with the object', async () => {
  await upload('old');
  const shown = (await call('GET', '/blueprints/old', { version: 'v2.1' })).body;
  expect(Object.keys(shown).sort()).toEqual([
    'created_at',
    'description',
    'id',
    'main_file_name',
    'plan',
    'updated_at',
  ]);
  expect(shown.created_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
  const deleted = await call('DELETE', '/blueprints/old', { version: 'v2.1' });
  expect([deleted.status, deleted.body.id]).toEqual([200, 'old']);
});

it('gives plan and files to other services', async () => {
  const large = 'x'.repeat(700_000);
  await upload('served', { 'blueprint.yaml': MAIN, 'scripts/a.sh': 'echo', 'large.bin': large, empty: '' });
  const got = await catalog.rpc.getBlueprint({
    tenant: 'default_tenant',
    blueprintId: 'served',
    withPlan: true,
  });
  expect(JSON.parse(got.planJson).inputs.port.default).toBe(80);
  expect(got.digest).toMatch(/^[0-9a-f]{64}$/);
  const read = async (path: string) => {
    const chunks: Uint8Array[] = [];
    for await (const { data } of catalog.rpc.readBlueprintFile({
      tenant: 'default_tenant',
      blueprintId: 'served',
      path,
    }))
      chunks.push(data);
    return chunks;
  };
  expect(Buffer.concat(await read('scripts/a.sh')).toString()).toBe('echo');
  const pieces = await read('large.bin');
  expect(Buffer.concat(pieces).toString()).toBe(large);
  expect(Math.max(...pieces.map((p) => p.length))).toBeLessThanOrEqual(256 * 1024);
  expect(Buffer.concat(await read('empty')).length).toBe(0);
  for (const path of ['../blueprint.yaml', '/etc/passwd', 'no', ''])
    await expect(read(path)).rejects.toMatchObject({ code: 'not_found_error' });
  const list = async (folder: string) =>
    (await catalog.rpc.listBlueprintFiles({ tenant: 'default_tenant', blueprintId: 'served', folder })).paths;
  expect(await list('scripts/')).toEqual(['a.sh']);
  expect(await list('')).toEqual(['blueprint.yaml', 'empty', 'large.bin', 'scripts/a.sh']);
  for (const folder of ['script', 'empty', '..', '/etc'])
    await expect(list(folder)).rejects.toMatchObject({ code: 'not_found_error' });
  await expect(catalog.rpc.getBlueprint({ tenant: 'other', blueprintId: 'served' })).rejects.toMatchObject({
    code: 'not_found_error',
  });
});

it('an equal id and archive with another main file has another digest', async () => {
  const files = { 'blueprint.yaml': MAIN, 'other.yaml': MAIN.replace('80', '81') };
  const digestOf = async (query: string) => {
    await upload('twofold', files, query);
    const { digest } = await catalog.rpc.getBlueprint({ tenant: 'default_tenant', blueprintId: 'twofold' });
    await call('DELETE', '/blueprints/twofold');
    return digest;
  };
  expect(await digestOf('')).not.toBe(await digestOf('?application_file_name=other.yaml'));
});
