// The command line against a manager: one pass over each kind of object, the exit codes, and what people do with Ctrl-C. Commands
// run in this process; one group runs the bundle of `npm run build`.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readYamlJson } from '@baton/dsl';
import { eventually } from '@baton/testkit';
import { runCli } from '../../apps/cli/src/run';
import { quietIo } from '../../apps/cli/src/testing-io';
import { wagon } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { SHOP, SLOW } from './blueprints';

let fleet: Fleet;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone' });
  folder = mkdtempSync(join(tmpdir(), 'baton-cli-'));
  env = {
    BATON_URL: fleet.baseUrl,
    BATON_USERNAME: 'admin',
    BATON_PASSWORD: fleet.adminPassword,
    BATON_PROFILES: join(folder, 'profiles.json'),
  };
  mkdirSync(join(folder, 'shop'));
  writeFileSync(join(folder, 'shop/blueprint.yaml'), SHOP);
  writeFileSync(join(folder, 'shop/slow.yaml'), SLOW);
  writeFileSync(join(folder, 'plugin.wgn'), wagon('cli-plugin'));
  writeFileSync(join(folder, 'key.txt'), 'passphrase-of-16\n');
}, 120_000);
afterAll(async () => {
  await fleet?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Reads what -o yaml printed. */
// biome-ignore lint/suspicious/noExplicitAny: answers of many kinds; the tests say what they expect.
function parse(text: string): any {
  const read = readYamlJson(text);
  if (!read.ok) throw new Error(`no YAML: ${text}`);
  return read.value;
}

interface Ran {
  code: number;
  out: string;
  err: string;
}

async function run(line: readonly string[], { input = '', more = {} } = {}): Promise<Ran> {
  const quiet = quietIo({ ...env, ...more }, input);
  const code = await runCli(['node', 'baton', ...line], quiet.io);
  return { code, out: quiet.out(), err: quiet.err() };
}

/** Runs a command that must succeed. @returns what it printed */
async function baton(...line: string[]): Promise<string> {
  const { code, out, err } = await run(line);
  if (code !== 0) throw new Error(`baton ${line.join(' ')}: exit ${code}: ${err}${out}`);
  return out;
}

/** A kind of object: how one is made and changed, and a field that shows the change. */
interface Pass {
  kind: string;
  id: string;
  create: string[];
  update?: string[];
  /** Field of `get -o yaml` and its value after the update. */
  shows: [field: string, value: unknown];
  /** Arguments that name the object besides its id. */
  of?: string[];
}

const file = (name: string): string => join(folder, name);
const passes = (): Pass[] => [
  {
    kind: 'sites',
    id: 'lab',
    create: ['--location', '1,2'],
    update: ['--location', '3,4'],
    shows: ['latitude', 3],
  },
  { kind: 'secrets', id: 'word', create: ['-s', 'a'], update: ['-s', 'b'], shows: ['value', 'b'] },
  { kind: 'tenants', id: 'team', create: [], shows: ['name', 'team'] },
  { kind: 'users', id: 'alice', create: ['-p', 'password-of-alice'], shows: ['role', 'default'] },
  { kind: 'user-groups', id: 'staff', create: [], shows: ['role', 'default'] },
  {
    kind: 'blueprint-filters',
    id: 'mine',
    create: ['--labels-rule', 'env=prod'],
    update: ['--attrs-rule', 'id contains a'],
    shows: ['attrs_filter_rules', [{ key: 'id', values: ['a'], operator: 'contains', type: 'attribute' }]],
  },
  {
    kind: 'deployment-filters',
    id: 'prod',
    create: ['--labels-rule', 'env=prod'],
    update: ['--visibility', 'global'],
    shows: ['visibility', 'global'],
  },
  {
    kind: 'webhooks',
    id: 'chat',
    create: ['--to', 'https://hooks.example.org/a', '-e', 'execution.finished', '--only', 'status=failed'],
    update: ['--max-attempts', '3'],
    shows: ['max_attempts', 3],
  },
  { kind: 'service-accounts', id: 'ci', create: ['--in', 'default_tenant=user'], shows: ['role', 'default'] },
  { kind: 'log-bundles', id: 'today', create: [], shows: ['status', 'created'] },
  { kind: 'snapshots', id: 'monday', create: [], shows: ['status', 'created'] },
];

test('each kind: create, list, get, update, delete', async () => {
  for (const { kind, id, create, update, shows } of passes()) {
    await baton(kind, 'create', id, ...create);
    expect((await baton(kind, 'list', '-o', 'name')).split('\n')).toContain(id);
    if (update) await baton(kind, 'update', id, ...update);
    const shown = parse(await baton(kind, 'get', id, '-o', 'yaml'));
    expect([kind, shown[shows[0]]]).toEqual([kind, shows[1]]);
    expect(JSON.parse(await baton(kind, 'get', id, '--json'))).toEqual(
      JSON.parse(await baton(kind, 'get', id, '-o', 'json')),
    );
    expect(await baton(kind, 'list', '-o', 'wide')).toContain(id);
    await baton(kind, 'delete', id);
    expect([kind, (await run([kind, 'get', id])).code]).toEqual([kind, 3]);
  }
}, 120_000);

test('blueprints, deployments, executions, schedules, groups and updates', async () => {
  expect(await baton('blueprints', 'upload', file('shop'))).toBe('Blueprint shop uploaded.\n');
  await baton('blueprints', 'check', file('shop'));
  await baton('blueprints', 'update', 'shop', '-l', 'env=prod');
  expect(await baton('blueprints', 'list', '--labels-rule', 'env=prod', '-o', 'name')).toBe('shop\n');
  expect(await baton('blueprints', 'list', '--labels-rule', 'env=[stage]', '-o', 'name')).toBe('');
  expect(
    await baton('blueprints', 'list', '--where', 'id=shop', '--sort', '-created_at', '--size', '1'),
  ).toContain('shop');
  const shown = await baton('blueprints', 'get', 'shop', '-o', 'wide');
  expect(shown).toContain('\\x1b[2Jescape');
  expect(shown).not.toContain('\u001b');

  await baton('deployments', 'create', 'web', '-b', 'shop', '-i', 'size=2', '-l', 'env=prod');
  const install = await baton('executions', 'start', 'install', '-d', 'web');
  expect(install).toMatch(/\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ {2}CFY <web> /);
  expect(parse(await baton('deployments', 'outputs', 'web', '-o', 'yaml'))).toEqual({ size: 2 });
  await baton('deployments', 'set', 'web', '--display-name', 'the web');
  await baton('deployment-filters', 'create', 'production', '--labels-rule', 'env=prod');
  expect(await baton('deployments', 'list', '--filter-id', 'production', '-o', 'name')).toBe('web\n');
  expect(await baton('deployments', 'update', 'web', '-i', 'size=3', '--preview')).toContain('change');
  await baton('deployments', 'update', 'web', '-i', 'size=3');
  const updates = JSON.parse(await baton('deployment-updates', 'list', '-d', 'web', '--json'));
  expect(updates).toHaveLength(2);
  await baton('deployment-updates', 'diff', updates[1].id);

  const at = ['-d', 'web'];
  await baton('schedules', 'create', 'nightly', 'install', ...at, '--recurrence', '1 day', '--disabled');
  await baton(
    'schedules',
    'create',
    'once',
    'install',
    ...at,
    '--since',
    'now',
    '--count',
    '1',
    '--disabled',
  );
  await baton('schedules', 'update', 'nightly', ...at, '--slip', '5');
  expect(parse(await baton('schedules', 'get', 'nightly', ...at, '-o', 'yaml'))).toMatchObject({ slip: 5 });
  expect((await baton('schedules', 'list', '-o', 'name')).split('\n').sort()).toEqual([
    '',
    'nightly',
    'once',
  ]);
  await baton('schedules', 'delete', 'once', ...at);

  const trigger = ['create', 'on-push', ...at, '-w', 'install', '--from', 'size=/size'];
  expect(JSON.parse(await baton('triggers', ...trigger, '--json')).secret).toMatch(/^whsec_/);
  expect(await baton('triggers', 'list', '-o', 'name')).toBe('on-push\n');
  await baton('triggers', 'update', 'on-push', '-p', 'delta=2');
  await baton('triggers', 'disable', 'on-push');
  const rotated = JSON.parse(await baton('triggers', 'rotate', 'on-push', '--overlap', '60', '--json'));
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(parse(await baton('triggers', 'get', 'on-push', '-o', 'yaml'))).toMatchObject({
    workflow_id: 'install',
    parameters: { size: '/size' },
    fixed_parameters: { delta: 2 },
    is_enabled: false,
  });
  await baton('triggers', 'delete', 'on-push');

  await baton('groups', 'put', 'all', '-d', 'web');
  expect(parse(await baton('groups', 'get', 'all', '-o', 'yaml'))).toMatchObject({ deployment_ids: ['web'] });
  await baton('groups', 'shrink', 'all', '-d', 'web');
  await baton('groups', 'delete', 'all');
}, 120_000);

test('what is read of deployments: nodes, instances, searches, summaries, workflows, functions, events', async () => {
  const [instance] = (await baton('node-instances', 'list', '-d', 'web', '-o', 'name')).split('\n');
  await baton('node-instances', 'update', instance!, '--set', 'ip=10.0.0.1');
  const { runtime_properties } = parse(await baton('node-instances', 'get', instance!, '-o', 'yaml'));
  expect(runtime_properties).toMatchObject({ ip: '10.0.0.1' });
  const ip = await baton('evaluate', '-d', 'web', '-p', 'ip={get_attribute: [app, ip]}', '-o', 'yaml');
  expect(parse(ip)).toEqual({ ip: '10.0.0.1' });
  for (const line of [
    ['nodes', 'list', '-d', 'web'],
    ['search', 'nodes', '--where', 'deployment_id=web'],
    ['search', 'deployments', '--attrs-rule', 'id starts-with we'],
    ['summary', 'deployments', '--by', 'blueprint_id'],
    ['summary', 'executions', '--by', 'status', '--then', 'workflow_id'],
    ['workflows', 'list', '-d', 'web'],
    ['labels', 'deployments'],
    ['labels', 'deployment-values', 'env'],
    ['events', 'list', '-d', 'web'],
    ['deployments', 'topology', 'web'],
    ['deployments', 'impact', 'web'],
    ['deployments', 'drift', 'web'],
    ['dependencies', 'list'],
    ['modifications', 'list'],
    ['agents', 'list'],
    ['files', 'list', '--in', 'deployment', '--of', 'web'],
  ])
    expect([line.join(' '), await baton(...line)]).toEqual([line.join(' '), expect.any(String)]);
  const [modification] = (
    await baton('modifications', 'start', 'web', '--instances', 'app=2', '-o', 'name')
  ).split('\n');
  await baton('modifications', 'rollback', modification!);
}, 60_000);

test('the manager as a whole', async () => {
  for (const line of [
    ['status'],
    ['version'],
    ['ok'],
    ['cluster', 'status'],
    ['cluster', 'brokers'],
    ['cluster', 'db-nodes'],
    ['managers', 'list'],
    ['workers', 'list'],
    ['license', 'list'],
    ['config', 'list'],
    ['audit', 'list', '--size', '5'],
    ['roles', 'list'],
    ['permissions', 'of', 'viewer'],
    ['users', 'me'],
    ['users', 'permissions'],
    ['users', 'source'],
    ['snapshots', 'status'],
    ['doctor'],
    ['secrets-providers', 'list'],
    ['plugins-updates', 'list'],
    ['execution-groups', 'list'],
    ['tokens', 'list'],
  ])
    for (const format of ['table', 'json', 'yaml', 'name'])
      expect([line.join(' '), (await run([...line, '-o', format])).code]).toEqual([line.join(' '), 0]);
}, 60_000);

test('files of a node instance: write, lock, list, read, remove', async () => {
  const [instance] = (await baton('node-instances', 'list', '-d', 'web', '-o', 'name')).split('\n');
  const of = (name: string, ...more: string[]) => baton('node-instances', name, instance!, ...more);
  await of('lock-file', 'state', '--lock-id', 'mine', '--holder', 'Ada');
  await of('put-file', 'state', file('key.txt'), '--lock-id', 'mine');
  expect(parse(await of('files', '-o', 'yaml'))).toMatchObject([{ name: 'state', locked_by: 'Ada' }]);
  await of('get-file', 'state', file('copy'));
  for (const name of ['unlock-file', 'delete-file']) await of(name, 'state');
  expect(readFileSync(file('copy'), 'utf8')).toBe('passphrase-of-16\n');
});

test('plugins and files: upload, download, delete', async () => {
  const id = (await baton('plugins', 'upload', file('plugin.wgn'), '-o', 'name')).trim();
  await baton('plugins', 'download', id, file('copy.wgn'));
  expect(readFileSync(file('copy.wgn'))).toEqual(readFileSync(file('plugin.wgn')));
  expect((await run(['plugins', 'uses', id])).code).toBe(0);
  await baton('plugins', 'delete', id);
  await baton('files', 'put', 'scripts/key.txt', file('key.txt'));
  expect(await baton('files', 'list', 'scripts', '-o', 'name')).toContain('key.txt');
  await baton('files', 'get', 'scripts/key.txt', file('key-copy.txt'));
  expect(readFileSync(file('key-copy.txt'), 'utf8')).toBe('passphrase-of-16\n');
  await baton('files', 'delete', 'scripts/key.txt');
}, 60_000);

test('secrets leave the manager only encrypted, in a file of their owner', async () => {
  await run(['secrets', 'create', 'word', '--file', '-'], { input: 'very secret\n' });
  writeFileSync(file('export.json'), '', { mode: 0o644 });
  await baton('secrets', 'export', file('export.json'), '--passphrase-file', file('key.txt'));
  expect(statSync(file('export.json')).mode & 0o777).toBe(0o600);
  expect(readFileSync(file('export.json'), 'utf8')).not.toContain('very secret');
  await baton('secrets', 'delete', 'word');
  await baton('secrets', 'import', file('export.json'), '--passphrase-file', file('key.txt'));
  expect(parse(await baton('secrets', 'get', 'word', '-o', 'yaml')).value).toBe('very secret');
  expect((await run(['secrets', 'export', file('plain.json')])).code).toBe(2);
}, 60_000);

test('a dry run of a restore works on a manager with content', async () => {
  await baton('snapshots', 'create', 'full');
  expect(await baton('snapshots', 'restore', 'full', '--dry-run')).toContain('completed');
  expect(await baton('deployments', 'list', '-o', 'name')).toContain('web');
}, 120_000);

test('exit codes: not found, refused, not reached, failed execution', async () => {
  expect((await run(['deployments', 'get', 'nosuch'])).code).toBe(3);
  expect((await run(['deployments', 'create', 'web', '-b', 'shop'])).code).toBe(4);
  expect((await run(['sites', 'create', '7'])).code).toBe(4);
  const away = await run(['users', 'unlock', 'admin'], { more: { BATON_URL: 'http://127.0.0.1:9' } });
  expect(away.code).toBe(5);
  const denied = await run(['sites', 'list'], { more: { BATON_PASSWORD: 'wrong' } });
  expect([denied.code, denied.err]).toEqual([
    4,
    expect.stringContaining(`log in: baton login ${fleet.baseUrl}`),
  ]);
}, 60_000);

test('a profile keeps a token; when it is refused, the words are those of this program', async () => {
  const { BATON_PASSWORD: password, BATON_URL: url, BATON_PROFILES: file } = env;
  const own = async (line: string[]): Promise<Ran> => {
    const quiet = quietIo({ BATON_PROFILES: file! });
    const code = await runCli(['node', 'baton', ...line], quiet.io);
    return { code, out: quiet.out(), err: quiet.err() };
  };
  expect((await own(['profiles', 'add', 'lab', '--url', url!, '-U', 'admin', '-P', password!])).code).toBe(0);
  expect(readFileSync(file!, 'utf8')).not.toContain(password);
  expect(statSync(file!).mode & 0o777).toBe(0o600);
  const token = JSON.parse(readFileSync(file!, 'utf8')).profiles.lab.token as string;
  expect((await own(['sites', 'list'])).code).toBe(0);
  const tokens = JSON.parse((await own(['tokens', 'list', '--json'])).out) as { id: string }[];
  for (const { id } of tokens) await run(['tokens', 'delete', id]);
  const refused = await eventually(
    async () => {
      const ran = await own(['sites', 'list']);
      if (ran.code !== 4) throw new Error('the token still works');
      return ran;
    },
    { deadlineMs: 20_000 },
  );
  expect(refused.err).toContain('log in again: baton login --profile lab');
  expect(refused.err).not.toContain(token);
  expect((await own(['profiles', 'login', 'lab', '-P', password!])).code).toBe(0);
  expect((await own(['sites', 'list'])).code).toBe(0);
  expect((await own(['profiles', 'delete', 'lab'])).code).toBe(0);
}, 60_000);

describe('an execution that is followed', () => {
  const bundle = join(root, 'dist/apps/cli/main.js');
  const spawned = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, ...env });

  test('goes on after a time limit, and after Ctrl-C', async () => {
    await baton('blueprints', 'upload', file('shop/slow.yaml'));
    await baton('deployments', 'create', 'slow', '-b', 'slow');
    const limited = await run(['executions', 'start', 'install', '-d', 'slow', '--timeout', '1']);
    expect([limited.code, limited.err]).toEqual([7, expect.stringContaining('baton executions follow')]);
    const [id] = (await baton('executions', 'list', '-d', 'slow', '--status', 'started', '-o', 'name')).split(
      '\n',
    );

    const child = spawn(process.execPath, [bundle, 'executions', 'follow', id!], { env: spawned() });
    let text = '';
    child.stdout.on('data', (piece: Buffer) => {
      if (text === '') child.kill('SIGINT');
      text += piece.toString();
    });
    let error = '';
    child.stderr.on('data', (piece: Buffer) => {
      error += piece.toString();
    });
    const code = await new Promise((resolve) => child.on('exit', resolve));
    expect([code, error]).toEqual([130, expect.stringContaining(`execution ${id} goes on`)]);

    const following = run(['executions', 'follow', id!]);
    await baton('executions', 'kill', id!);
    const ended = await following;
    expect([ended.code, ended.err]).toEqual([6, expect.stringContaining('ended as')]);

    const resumed = await run(['executions', 'resume', id!, '--timeout', '1']);
    expect([resumed.code, resumed.out]).toEqual([7, expect.stringContaining(`Execution ${id} goes on`)]);
    await baton('executions', 'kill', id!);
    expect(await baton('events', 'list', '-e', id!, '--sort', '-timestamp', '--size', '1')).toMatch(
      /^\d{4}-.*\n$/,
    );
  }, 60_000);

  test('the bundle has the same exit codes', () => {
    const { status, stderr } = spawnSync(process.execPath, [bundle, 'sites', 'get', 'nosuch'], {
      env: spawned(),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([3, expect.stringMatching(/^baton: /)]);
  });
});

test('--watch shows a list again when it changes', async () => {
  const quiet = quietIo(env);
  const watching = runCli(['node', 'baton', 'sites', 'list', '-o', 'name', '--watch', '0.2'], quiet.io);
  await baton('sites', 'create', 'watched');
  await eventually(() => quiet.out().includes('watched\n'), { deadlineMs: 20_000 });
  quiet.interrupt();
  expect(await watching).toBe(0);
  expect(quiet.out().match(/watched/g)).toHaveLength(1);
}, 30_000);

test('maintenance mode is a refusal, and leaving it twice is not', async () => {
  await baton('maintenance', 'activate');
  expect(await baton('maintenance', 'activate')).toContain('already');
  const write = ['sites', 'create', 'probe'];
  const refused = async () => (await run(write)).code === 4;
  await eventually(refused, { deadlineMs: 20_000 });
  await baton('maintenance', 'deactivate');
  expect(await baton('maintenance', 'deactivate')).toContain('not active already');
  await eventually(async () => (await run(write)).code === 0, { deadlineMs: 20_000 });
}, 60_000);
