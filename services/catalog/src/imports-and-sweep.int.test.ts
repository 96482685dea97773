import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@baton/testkit';
import { sweepOnce } from './commands/sweep-blobs';
import { blueprintTgz, zipOf } from './testing/archives';
import { startCatalog, type TestCatalog } from './testing/catalog-setup';

// Each test starts a catalog and a database of its own.
jest.setTimeout(60_000);

const HEAD = 'tosca_definitions_version: cloudify_dsl_1_4\n';
const octets = 'application/octet-stream';
const upload = async ({ call }: TestCatalog, id: string, files: Record<string, string>, query = '') =>
  call('PUT', `/blueprints/${id}${query}`, { raw: await blueprintTgz(files), contentType: octets });

describe('from elsewhere, where private addresses are allowed', () => {
  let catalog: TestCatalog;
  let server: http.Server;
  let base: string;
  const served = new Map<string, string | Buffer>();
  const hits: string[] = [];
  beforeAll(async () => {
    server = http.createServer((request, response) => {
      hits.push(request.url!);
      const body = served.get(request.url!);
      if (body === undefined) response.writeHead(404).end();
      else response.end(body);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    catalog = await startCatalog({ env: { BATON_ALLOW_PRIVATE_URLS: 'true' } });
  });
  afterAll(async () => {
    await catalog.close();
    server.close();
  });

  it('follows imports of imports, once, and names what cannot be read', async () => {
    served.set('/a.yaml', 'imports: [sub/b.yaml]\ninputs: {a: {default: 1}}\n');
    served.set('/sub/b.yaml', 'inputs: {b: {default: 2}}\n');
    const files = { 'blueprint.yaml': `${HEAD}imports: ["${base}/a.yaml"]\n` };
    expect(Object.keys((await upload(catalog, 'chained', files)).body.plan.inputs).sort()).toEqual([
      'a',
      'b',
    ]);
    await upload(catalog, 'again', files);
    expect(hits).toEqual(['/a.yaml', '/sub/b.yaml']);
    const missing = await upload(catalog, 'missing', {
      'blueprint.yaml': `${HEAD}imports: ["${base}/none.yaml"]\n`,
    });
    expect(missing.body.diagnostics).toEqual([
      expect.objectContaining({ file: 'blueprint.yaml', line: 2, value: `${base}/none.yaml` }),
    ]);
  });

  it('fetches archives, at once and in the background', async () => {
    served.set('/bp.tar.gz', await blueprintTgz({ 'blueprint.yaml': HEAD }));
    const now = await catalog.call('PUT', `/blueprints/fetched?blueprint_archive_url=${base}/bp.tar.gz`);
    expect([now.status, now.body.state]).toEqual([201, 'uploaded']);
    const later = await catalog.call(
      'PUT',
      `/blueprints/later?async_upload=true&blueprint_archive_url=${base}/bp.tar.gz`,
    );
    expect([later.status, later.body.state]).toEqual([201, 'pending']);
    await eventually(async () =>
      expect((await catalog.call('GET', '/blueprints/later')).body.state).toBe('uploaded'),
    );
  });
});

it('the sweep deletes what nothing uses, and only that', async () => {
  const catalog = await startCatalog();
  try {
    const large = 'L'.repeat(100_000);
    const archiveOf = async (id: string) => {
      const { rows } = await catalog.db.pool.query('select archive_digest from blueprints where id = $1', [
        id,
      ]);
      return rows[0].archive_digest as string;
    };
    await upload(catalog, 'stays', { 'blueprint.yaml': HEAD, 'large.bin': large });
    await upload(catalog, 'goes', {
      'blueprint.yaml': `${HEAD}description: other\n`,
      'large.bin': large,
      'own.bin': 'O'.repeat(100_000),
    });
    const [kept, dropped] = [await archiveOf('stays'), await archiveOf('goes')];
    await catalog.call('DELETE', '/blueprints/goes');
    const sweep = () => sweepOnce({ db: catalog.db, blobs: catalog.blobs, graceMs: 0 });
    const stored = async () => {
      const digests: string[] = [];
      for await (const { digest } of catalog.blobs.list()) digests.push(digest);
      return digests;
    };
    expect(await stored()).toHaveLength(4);
    await sweepOnce({ db: catalog.db, blobs: catalog.blobs, graceMs: 3_600_000 });
    expect(await stored()).toHaveLength(4);
    await sweep();
    expect(await stored()).toHaveLength(2);
    expect(await stored()).toContain(kept);
    expect(await stored()).not.toContain(dropped);
    expect((await catalog.call('GET', '/blueprints/stays/archive')).status).toBe(200);
    expect((await upload(catalog, 'goes', { 'blueprint.yaml': HEAD, 'large.bin': large })).status).toBe(201);
  } finally {
    await catalog.close();
  }
});

it('on the wire of the original every upload is accepted first and shows an execution', async () => {
  const catalog = await startCatalog({ wire: 'cloudify' });
  try {
    const accepted = await upload(catalog, 'b', { 'blueprint.yaml': HEAD });
    expect([accepted.status, accepted.body]).toEqual([
      201,
      expect.objectContaining({
        state: 'uploading',
        plan: null,
        plan_p: null,
        upload_execution: expect.objectContaining({ workflow_id: 'upload_blueprint', status: 'pending' }),
      }),
    ]);
    await eventually(async () =>
      expect((await catalog.call('GET', '/blueprints/b')).body).toMatchObject({
        state: 'uploaded',
        upload_execution: { status: 'terminated', error: '', parameters: { validate_only: false } },
      }),
    );
    const { rows } = await catalog.db.pool.query(
      `select envelope from outbox where envelope->>'type' = 'catalog.upload-ended.v1'`,
    );
    expect(rows).toMatchObject([{ envelope: { payload: { createdAt: accepted.body.created_at } } }]);
    const known = { tenant: 'default_tenant', executionId: accepted.body.upload_execution.id };
    expect(await catalog.rpc.getUpload(known)).toMatchObject({
      hasEnded: true,
      createdBy: accepted.body.created_by,
      createdAt: accepted.body.created_at,
    });
    // The execution belongs to the tenant, even when the blueprint is global.
    const wide = await upload(catalog, 'wide', { 'blueprint.yaml': HEAD }, '?visibility=global');
    expect(wide.body).toMatchObject({ visibility: 'global', upload_execution: { visibility: 'tenant' } });
    // An upload without any archive also leaves a failed row, whose execution has not begun.
    expect((await catalog.call('PUT', '/blueprints/none')).status).toBe(400);
    expect((await catalog.call('GET', '/blueprints/none')).body).toMatchObject({
      state: 'failed_uploading',
      upload_execution: { status: 'pending', started_at: null, ended_at: null, error: null },
    });
    const search = { constraints: { name_pattern: { starts_with: 'w' }, unknown: 1 } };
    const { body } = await catalog.call('POST', '/searches/blueprints?_include=id', { json: search });
    expect(body.items).toEqual([{ id: 'wide' }]);
  } finally {
    await catalog.close();
  }
});

it('on the wire of the original a validation answers a blueprint that is never stored, and tells how it ended', async () => {
  const catalog = await startCatalog({ wire: 'cloudify' });
  try {
    const told = async () =>
      (
        await catalog.db.pool.query(
          `select envelope from outbox where envelope->>'type' = 'catalog.upload-ended.v1'`,
        )
      ).rows as { envelope: { payload: Record<string, unknown> } }[];
    for (const [yaml, status] of [
      ['tosca_definitions_version: cloudify_dsl_1_3', 'terminated'],
      ['node_templates: {n: {type: no.such.type}}', 'failed'],
    ] as const) {
      const { status: code, body } = await catalog.call('PUT', '/blueprints/tried/validate', {
        raw: await blueprintTgz({ 'blueprint.yaml': yaml }),
        contentType: 'application/octet-stream',
      });
      expect([code, body.state, body.plan]).toEqual([201, 'validating', null]);
      expect(body.upload_execution).toMatchObject({
        workflow_id: 'upload_blueprint',
        ended_at: null,
        parameters: { validate_only: true },
      });
      const ended = (await told()).find(
        ({ envelope }) => envelope.payload.executionId === body.upload_execution.id,
      );
      expect(ended?.envelope.payload).toMatchObject({
        status,
        createdAt: body.created_at,
        parameters: { validate_only: true },
      });
    }
    expect((await catalog.call('GET', '/blueprints/tried')).status).toBe(404);
  } finally {
    await catalog.close();
  }
});

it('a deleted blueprint tells which execution goes with it; one that was refused tells nothing', async () => {
  const catalog = await startCatalog();
  try {
    const put = (id: string) =>
      blueprintTgz({ 'blueprint.yaml': 'tosca_definitions_version: cloudify_dsl_1_3' }).then((raw) =>
        catalog.call('PUT', `/blueprints/${id}`, { raw, contentType: 'application/octet-stream' }),
      );
    await put('gone');
    await put('used');
    catalog.deployments.set('used', ['d1']);
    const { rows } = await catalog.db.pool.query(
      `select upload_execution_id as id from blueprints where id = 'gone'`,
    );
    expect((await catalog.call('DELETE', '/blueprints/used')).body.error_code).toBe('dependent_exists_error');
    expect((await catalog.call('DELETE', '/blueprints/gone')).status).toBe(204);
    const told = await catalog.db.pool.query(
      `select envelope->'payload' as payload from outbox where envelope->>'type' = 'catalog.blueprint-deleted.v1'`,
    );
    expect(told.rows).toEqual([{ payload: { blueprintId: 'gone', executionId: rows[0].id } }]);
  } finally {
    await catalog.close();
  }
});

it('on the wire of the original refused archives are told in its words', async () => {
  const catalog = await startCatalog({ wire: 'cloudify' });
  const put = async (id: string, raw: Buffer, query = '') => {
    await catalog.call('PUT', `/blueprints/${id}${query}`, { raw, contentType: 'application/octet-stream' });
    await eventually(async () => {
      const { body } = await catalog.call('GET', `/blueprints/${id}`);
      expect(body.state).toBe('failed_extracting');
    });
    return (await catalog.call('GET', `/blueprints/${id}`)).body.error;
  };
  try {
    const two = zipOf([
      { name: 'one/blueprint.yaml', content: HEAD },
      { name: 'two/x', content: 'x' },
    ]);
    const none = zipOf([{ name: 'bp/other.yaml', content: HEAD }]);
    expect(await put('two', two)).toBe('Archive must contain exactly 1 directory');
    expect(await put('main', none)).toBe(
      'Application directory is missing blueprint.yaml and application_file_name query parameter was not passed',
    );
    expect(await put('named', none, '?application_file_name=app.yaml')).toBe(
      'app.yaml does not exist in the application directory',
    );
  } finally {
    await catalog.close();
  }
});
