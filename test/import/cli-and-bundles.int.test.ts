// What an administrator types: check, apply, activate; then a bundle of the tenant moves to another manager.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Importer, S71, startImporter } from './importer';

let importer: Importer;
let other: Importer;
beforeAll(async () => {
  [importer, other] = await Promise.all([startImporter({ workers: 0 }), startImporter({ workers: 0 })]);
}, 120_000);
afterAll(async () => {
  await importer?.stop();
  await other?.stop();
}, 60_000);

const idOf = ({ id, timestamp, message }: Record<string, string>): string =>
  `${id ?? timestamp} ${message ?? ''}`;
const idIn = (text: string): string => /baton import apply ([0-9a-f-]{36})/.exec(text)![1]!;
let bundle: string;
let passphrase: string;

test('check, apply, report, list, activate and delete', async () => {
  const { baton } = importer;
  const checked = await baton('import', 'check', S71);
  expect([checked.code, checked.err]).toEqual([0, '']);
  expect(checked.out).toContain('cloudify 7.1.0: clean; 0 deployments need agents');
  expect(checked.out).not.toContain('s3cr3t-value');
  const id = idIn(checked.out);
  expect(await baton('import', 'apply', id, '--digest', 'other')).toMatchObject({ code: 4 });
  const applied = await baton('import', 'apply', id);
  expect([applied.code, applied.out]).toEqual([0, expect.stringContaining(`baton import activate ${id}`)]);
  const report = await baton('import', 'report', id, '--kind', 'plan');
  expect(report.out).toContain('[plan_same]');
  const listed = JSON.parse((await baton('import', 'list', '--json')).out);
  expect(listed).toMatchObject([{ id, state: 'applied', has_archive: false }]);
  const active = await baton('import', 'activate', id, '--deployment', 'default_tenant/snap-a', '--json');
  expect(JSON.parse(active.out)).toEqual({ deployments: 1, schedules: 0 });
  expect((await baton('import', 'delete', id)).code).toBe(0);
  expect((await baton('import', 'report', id)).code).toBe(3);
});

test('exit codes of a check say whether something is lost, and whether it can be imported', async () => {
  const { baton, file } = importer;
  const refused = await baton('import', 'check', file('broken.zip', Buffer.from('no zip')));
  expect([refused.code, refused.out]).toEqual([3, expect.stringContaining('refused')]);
  const chosen = await baton('import', 'check', S71, '--deployment', 'default_tenant/none');
  expect(chosen.code).toBe(3);
  expect(chosen.out).toContain('default_tenant/none is not in the archive');
});

test('a bundle of the tenant carries everything to another manager, and secrets only with its passphrase', async () => {
  const { baton, file, caller } = importer;
  passphrase = file('passphrase.txt', Buffer.from('a passphrase of a test\n'));
  bundle = file('bundle.zip', Buffer.alloc(0));
  const made = await baton(
    'bundle',
    'create',
    bundle,
    '--of',
    'default_tenant',
    '--passphrase-file',
    passphrase,
  );
  expect([made.code, made.err]).toEqual([0, '']);
  expect(readFileSync(bundle).includes('s3cr3t-value')).toBe(false);
  const wrong = file('wrong.txt', Buffer.from('another passphrase'));
  const refused = await other.baton('import', 'check', bundle, '--passphrase-file', wrong);
  expect([refused.code, refused.out]).toEqual([3, expect.stringContaining('passphrase')]);
  const moved = ['--tenant-map', 'default_tenant=moved', '--passphrase-file', passphrase, '--json'];
  const checked = JSON.parse((await other.baton('import', 'check', bundle, ...moved)).out);
  expect(checked).toMatchObject({ state: 'checked', format: 'baton-bundle', tenants: ['moved'] });
  const lost = checked.lines.filter(
    (line: { fate?: string }) => line.fate === 'lost' || line.fate === 'conflict',
  );
  expect(lost).toEqual([]);
  expect((await other.baton('import', 'apply', checked.id)).code).toBe(0);
  const there = { ...other.caller.admin, tenant: 'moved' };
  expect((await other.caller.must(there, 'GET', '/secrets/snap-secret')).value).toBe('s3cr3t-value');
  for (const path of [
    '/deployments',
    '/blueprints',
    '/node-instances',
    '/executions',
    '/events?_size=1000',
  ]) {
    const here = (await caller.must(caller.admin, 'GET', path)).items.map(idOf).toSorted();
    expect(here.length).toBeGreaterThan(0);
    expect([path, (await other.caller.must(there, 'GET', path)).items.map(idOf).toSorted()]).toEqual([
      path,
      here,
    ]);
  }
  const recording = join(importer.fleet.dir, 'recording.gz');
  expect((await baton('import', 'record', recording, '--rate', '1000')).code).toBe(0);
  const compared = await other.baton('import', 'verify', recording, '--json', ...moved.slice(0, 2));
  const { error, ...tally } = JSON.parse(compared.out);
  expect((error ?? tally).differences).toEqual([]);
  expect(tally.compared_total).toBeGreaterThan(25);
  writeFileSync(bundle, '');
});

test('a bundle of one deployment has what it needs, and nothing else', async () => {
  const { baton } = importer;
  const { must, admin } = other.caller;
  await baton(
    'bundle',
    'create',
    bundle,
    '--of',
    'default_tenant',
    '--deployment',
    'snap-b',
    '--without-events',
  );
  const single = ['--tenant-map', 'default_tenant=single', '--json'];
  const checked = JSON.parse((await other.baton('import', 'check', bundle, ...single)).out);
  const read = Object.fromEntries(
    checked.counts.map((one: { type: string; read: number }) => [one.type, one.read]),
  );
  expect(read).toMatchObject({ deployments: 1, blueprints: 1, nodes: 2, node_instances: 3 });
  expect(Object.keys(read)).not.toContain('events');
  expect((await other.baton('import', 'apply', checked.id)).code).toBe(0);
  const there = { ...admin, tenant: 'single' };
  expect((await must(there, 'GET', '/deployments')).items).toMatchObject([{ id: 'snap-b' }]);
});

test('a bundle of one deployment takes those that it depends on when that is asked', async () => {
  const { baton, caller } = importer;
  await caller.must(caller.admin, 'PUT', '/deployments/inter-deployment-dependencies', {
    dependency_creator: 'a test',
    source_deployment: 'snap-b',
    target_deployment: 'snap-a',
  });
  const make = ['bundle', 'create', bundle, '--of', 'default_tenant', '--deployment', 'snap-b'];
  expect((await baton(...make, '--with-dependencies')).err).toBe('');
  const into = ['--tenant-map', 'default_tenant=both', '--json'];
  const checked = JSON.parse((await other.baton('import', 'check', bundle, ...into)).out);
  const read = Object.fromEntries(
    checked.counts.map((one: { type: string; read: number }) => [one.type, one.read]),
  );
  expect(read).toMatchObject({ deployments: 2, blueprints: 1, inter_deployment_dependencies: 1 });
});
