import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as yauzl from 'yauzl';
import { startTestManager, type TestManager, zipOf } from './testing/test-manager';

jest.setTimeout(120_000);

const quiet = `
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs: { size: { default: 3 } }
node_templates:
  place: { type: cloudify.nodes.Root }
outputs: { size: { value: { get_input: size } } }
`;
/** Its install waits for a worker, and there is none. */
const waiting = `
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  place:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle: { create: { implementation: run.sh } }
`;

const PUBLIC_KEY = String(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));

/** Files written by clients: one is stored in its row, one in the blob store. */
const FILES: Record<string, Buffer> = {
  '/resources/deployments/default_tenant/quiet/notes/small.txt': Buffer.from('left by a client\n'),
  '/resources/tenant-resources/default_tenant/large.bin': Buffer.alloc(200_000, 'large'),
};

async function entriesOf(archive: Buffer): Promise<Record<string, Buffer>> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-'));
  const path = join(folder, 'a.zip');
  writeFileSync(path, archive);
  const zip = await new Promise<yauzl.ZipFile>((resolve, reject) =>
    yauzl.open(path, { autoClose: false, lazyEntries: true }, (e, z) => (e ? reject(e) : resolve(z!))),
  );
  const entries: Record<string, Buffer> = {};
  await new Promise<void>((resolve, reject) => {
    zip.on('end', resolve).on('error', reject);
    zip.on('entry', (entry: yauzl.Entry) =>
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error);
        const pieces: Buffer[] = [];
        stream!.on('data', (piece: Buffer) => pieces.push(piece));
        stream!.on('end', () => {
          entries[entry.fileName] = Buffer.concat(pieces);
          zip.readEntry();
        });
      }),
    );
    zip.readEntry();
  });
  zip.close();
  rmSync(folder, { recursive: true });
  return entries;
}

async function deploy(manager: TestManager, id: string, yaml: string) {
  const archive = await zipOf({
    'top/blueprint.yaml': yaml,
    'top/run.sh': '#!/bin/sh\n',
    'top/big': 'x'.repeat(300_000),
  });
  expect((await manager.upload('PUT', `/blueprints/${id}`, archive)).status).toBe(201);
  expect((await manager.call('PUT', `/deployments/${id}`, { blueprint_id: id })).status).toBe(201);
  const { body } = await manager.call('POST', '/executions', { deployment_id: id, workflow_id: 'install' });
  return { archive, execution: body.id as string };
}

interface Manifest {
  hash: string;
  consistency: string;
  services: Record<string, { tables: { name: string; rows: number; hash: string }[] }>;
}

const manifestOf = async (manager: TestManager, id: string): Promise<Manifest> =>
  JSON.parse(
    (await entriesOf(await manager.download(`/snapshots/${id}/archive`)))['manifest.json']!.toString(),
  );

describe('snapshots of a whole manager', () => {
  let source: TestManager;
  let quietArchive: Buffer;
  let running: string;
  let archive: Buffer;

  beforeAll(async () => {
    source = await startTestManager('first manager');
    const installed = await deploy(source, 'quiet', quiet);
    quietArchive = installed.archive;
    expect((await source.ended(installed.execution)).status).toBe('terminated');
    running = (await deploy(source, 'waiting', waiting)).execution;
    await source.call('PUT', '/secrets/pin', { value: 'canary 4711' });
    await source.call('PUT', '/sites/home', { location: '1.5,2.5' });
    await source.call('PUT', '/plugin-keys/team', { public_key: PUBLIC_KEY });
    await source.call('PUT', '/plugin-trust', { requires_signature: true });
    for (const [path, content] of Object.entries(FILES))
      expect((await source.upload('PUT', path, content)).status).toBe(200);
    await source.call('PUT', '/users', { username: 'bob', password: 'password of bob', role: 'default' });
  });
  afterAll(() => source.close());

  it('are made beside a running execution, at one instant, and hold no secret in the clear', async () => {
    const created = await source.call('PUT', '/snapshots/s1', {});
    expect(created).toMatchObject({
      status: 201,
      body: { workflow_id: 'create_snapshot', is_system_workflow: true },
    });
    expect(await source.ended(created.body.id)).toMatchObject({ status: 'terminated', error: '' });
    expect((await source.call('GET', '/snapshots/s1')).body).toMatchObject({ status: 'created', error: '' });
    expect((await source.call('GET', `/executions/${running}`)).body.status).toBe('started');
    expect(await source.log(created.body.id)).toMatch(/Exported deployments: \d+ tables, \d+ rows/);

    archive = await source.download('/snapshots/s1/archive');
    const entries = await entriesOf(archive);
    const manifest: Manifest = JSON.parse(entries['manifest.json']!.toString());
    expect(manifest.consistency).toBe('shared');
    const rows = Object.fromEntries(manifest.services.deployments!.tables.map((t) => [t.name, t.rows]));
    expect(rows).toMatchObject({ deployments: 2, sites: 1, node_instances: 2 });
    expect(Object.keys(entries).filter((name) => name.startsWith('blobs/')).length).toBeGreaterThanOrEqual(3);
    expect(Object.keys(entries)).not.toContain('services/identity/tokens.ndjson');
    for (const content of Object.values(entries)) expect(content.includes('canary 4711')).toBe(false);
    expect((await source.call('PUT', '/snapshots/s1', {})).status).toBe(409);
  });

  it('are restored into another manager, where what they hold works', async () => {
    const target = await startTestManager('second manager');
    try {
      expect((await target.upload('PUT', '/snapshots/s1/archive', archive)).body.status).toBe('uploaded');
      const dry = await target.call('POST', '/snapshots/s1/restore', { dry_run: true });
      expect((await target.ended(dry.body.id)).status).toBe('terminated');
      expect(await target.log(dry.body.id)).toMatch(
        /1 executions .* come back as cancelled[\s\S]*blueprints 0 -> 2[\s\S]*nothing was changed/,
      );
      expect((await target.call('GET', '/blueprints')).body.items).toEqual([]);

      const restored = await target.call('POST', '/snapshots/s1/restore', { force: false });
      expect(restored).toMatchObject({ status: 200, body: { workflow_id: 'restore_snapshot' } });
      expect((await target.ended(restored.body.id)).status).toBe('terminated');

      expect((await target.call('GET', '/snapshot-status')).body).toEqual({ status: 'not-running' });
      expect((await target.call('GET', '/secrets/pin')).body.value).toBe('canary 4711');
      expect((await target.call('GET', '/plugin-keys/team')).body.public_key).toBe(PUBLIC_KEY);
      expect((await target.call('GET', '/plugin-trust')).body.requires_signature).toBe(true);
      expect((await target.call('GET', '/deployments/quiet/outputs')).body.outputs).toEqual({ size: 3 });
      expect(await target.download('/blueprints/quiet/archive')).toEqual(quietArchive);
      for (const [path, content] of Object.entries(FILES))
        expect(await target.download(path)).toEqual(content);
      expect(
        (await target.call('GET', '/version', undefined, { user: 'bob', password: 'password of bob' }))
          .status,
      ).toBe(200);
      expect((await target.call('GET', '/deployments')).body.metadata.pagination.total).toBe(2);
      expect((await target.ended(running)).status).toBe('cancelled');
      const { body: stopped } = await target.call('GET', '/deployments/waiting');
      expect(stopped.latest_execution_status).toBe('cancelled');
      const uninstall = await target.call('POST', '/executions', {
        deployment_id: 'quiet',
        workflow_id: 'uninstall',
      });
      expect(uninstall.status).toBe(201);
      expect((await target.ended(uninstall.body.id)).status).toBe('terminated');
    } finally {
      await target.close();
    }
  });

  it('give the same state by its canonical hash, also when the same manager goes back to it', async () => {
    const first = await manifestOf(source, 's1');
    await source.call('DELETE', '/secrets/pin');
    await source.call('PUT', '/sites/later', {});
    await source.call('POST', `/executions/${running}`, { deployment_id: 'waiting', action: 'kill' });
    await source.ended(running);
    const clean = await source.call('POST', '/snapshots/s1/restore', { force: false });
    const refused = await source.ended(clean.body.id);
    expect(refused).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('not a clean manager'),
    });
    expect((await source.call('GET', '/sites/later')).status).toBe(200);

    const forced = await source.call('POST', '/snapshots/s1/restore', { force: true });
    expect((await source.ended(forced.body.id)).status).toBe('terminated');
    await source.ended(running);
    const again = await source.call('PUT', '/snapshots/s2', {});
    await source.ended(again.body.id);
    const second = await manifestOf(source, 's2');
    // Executions that end or start with a restore show in executions and in the statuses of deployments.
    const same = ['catalog', 'secrets', 'cluster-status'] as const;
    for (const service of same) expect(second.services[service]).toEqual(first.services[service]);
    const steady = (m: Manifest) =>
      m.services.deployments!.tables.filter(
        ({ name }) => name !== 'deployments' && name !== 'node_instances',
      );
    expect(steady(second)).toEqual(steady(first));
  });

  it('are refused when they were changed, hold what has no place in them, or need another key', async () => {
    const target = await startTestManager('third manager');
    const entries = await entriesOf(archive);
    const roles = 'services/identity/users.ndjson';
    const forged = Buffer.from(entries[roles]!.toString().replace(/"role":"default"/, '"role":"sys_admin"'));
    expect(forged.equals(entries[roles]!)).toBe(false);
    const manifest = entries['manifest.json']!.toString();
    const cases: Record<string, [Buffer, RegExp]> = {
      row: [await zipOf({ ...entries, [roles]: forged }), /users.ndjson does not hold/],
      manifest: [
        await zipOf({ ...entries, 'manifest.json': manifest.replace(/"rows": 2/, '"rows": 3') }),
        /not the one that was sealed/,
      ],
      path: [await zipOf({ ...entries, 'services/identity/a-b/c': 'x' }), /has no place/],
      outbox: [await zipOf({ ...entries, 'services/identity/outbox.ndjson': '{}' }), /not in the manifest/],
      cut: [archive.subarray(0, archive.length - 100), /cannot be read as a zip/],
      other: [
        await zipOf({ 'metadata.json': '{"snapshot_version": "7.0.0"}' }),
        /only archives that Baton made/,
      ],
    };
    try {
      for (const [id, [content, why]] of Object.entries(cases)) {
        await target.upload('PUT', `/snapshots/${id}/archive`, content);
        const { body } = await target.call('POST', `/snapshots/${id}/restore`, { force: true });
        const end = await target.ended(body.id);
        expect([id, end.status, end.error]).toEqual([id, 'failed', expect.stringMatching(why)]);
      }
      expect(
        (await target.call('GET', '/users')).body.items.map((u: { username: string }) => u.username),
      ).toEqual(['admin']);
    } finally {
      await target.close();
    }
  });

  it('are refused where their master key is not configured', async () => {
    const stranger = await startTestManager('fourth manager', 'another master key that nobody knows of');
    try {
      await stranger.upload('PUT', '/snapshots/s1/archive', archive);
      const { body } = await stranger.call('POST', '/snapshots/s1/restore', {});
      expect((await stranger.ended(body.id)).error).toMatch(/master key .* not configured here/);
    } finally {
      await stranger.close();
    }
  });

  it('follow the rules of their requests', async () => {
    const missing = await source.call('POST', '/snapshots/nosuch/restore', {});
    expect(missing).toMatchObject({ status: 404, body: { error_code: 'not_found_error' } });
    expect((await source.call('POST', '/snapshots/s1/restore', { no_reboot: true })).body.error_code).toBe(
      'bad_parameters_error',
    );
    const busy = await deploy(source, 'busy', waiting);
    const refused = await source.call('POST', '/snapshots/s1/restore', { force: true });
    expect(refused.body.error_code).toBe('existing_running_execution_error');
    const bob = { user: 'bob', password: 'password of bob' };
    expect((await source.call('GET', '/snapshots', undefined, bob)).status).toBe(403);
    expect((await source.call('PATCH', '/snapshots/s1', { status: 'odd' })).status).toBe(400);
    // No process works on it: it would stay in this status for ever.
    const unmade = await source.call('PATCH', '/snapshots/s1', { status: 'creating' });
    expect(unmade).toMatchObject({ status: 400, body: { error_code: 'snapshot_action_error' } });
    expect((await source.call('PATCH', '/snapshots/s1', { status: 'failed', error: 'lost' })).status).toBe(
      200,
    );
    expect((await source.call('DELETE', '/snapshots/s2')).status).toBe(204);
    expect((await source.call('GET', '/snapshots/s2/archive')).status).toBe(404);
    await source.call('POST', `/executions/${busy.execution}`, { deployment_id: 'busy', action: 'kill' });
  });
});
