import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { eventually } from '@baton/testkit/eventually';
import { ZipFile } from 'yazl';
import { FILES } from './state/state-keeper';
import { binaries, standIn } from './testing/binaries';
import { sampleModule, sampleNode } from './testing/sample-module';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-tf-test-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** A program that writes down its arguments and environment, and then is the stand-in. */
function spy(body = `exec ${process.execPath} ${standIn} "$@"`): string {
  const path = join(place, 'spy');
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" >> ${place}/arguments\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const SECRET = 'sesame-open-42';
const variables = () => ({ path: join(place, 'page'), token: SECRET });

it('variables and credentials are neither on the command line nor in log lines and runtime properties', async () => {
  const node = sampleNode(spy(), {
    variables: variables(),
    environment_variables: { CLOUD_KEY: SECRET },
    backend: { credentials: { BACKEND_KEY: SECRET } },
  });
  await node.run('configure');
  await node
    .run('migrate_state', { backend: { name: 'local' }, backend_config: { path: 'x.tfstate' } })
    .catch(() => null);
  expect(readFileSync(join(place, 'arguments'), 'utf8')).not.toContain(SECRET);
  expect(JSON.stringify([node.log, node.runtimeProperties])).not.toContain(SECRET);
});

it('shell text in variables and names stays text', async () => {
  const who = `"; touch ${place}/hacked; $(touch ${place}/hacked) \`touch ${place}/hacked\``;
  const node = sampleNode(standIn, { variables: { ...variables(), who } });
  await node.run('configure');
  expect(node.runtimeProperties.outputs).toMatchObject({ greeting: { value: { text: `hello ${who}` } } });
  expect(existsSync(join(place, 'hacked'))).toBe(false);
});

it('a program that writes without end fills neither the log nor the memory', async () => {
  const node = sampleNode(
    spy(
      '[ "$1" = apply ] && { yes spam | head -n 400000; exit 1; }; exec ' +
        process.execPath +
        ` ${standIn} "$@"`,
    ),
    {
      variables: variables(),
    },
  );
  await expect(node.run('configure')).rejects.toThrow('terraform apply ended with 1');
  expect(node.log.length).toBeLessThan(5_100);
  expect(node.log).toContainEqual({ level: 'info', message: 'Further lines of the program are not logged' });
});

it('a program that says nothing is ended after the time that the node gives', async () => {
  const node = sampleNode(spy('exec sleep 600'), { variables: variables() });
  node.properties.general_executor_process = { max_sleep_time: 0.3 };
  await expect(node.run('configure')).rejects.toThrow('it wrote nothing for 0.3 s');
});

test.each(binaries)(
  'with %s a cancel asks the program to end, keeps the state that it writes then, and gives the lock back',
  async (_, binary) => {
    const stop = new AbortController();
    const slow = structuredClone(sampleModule);
    slow.resource.terraform_data.page.provisioner[0]!['local-exec'].command = 'printf x > "$PAGE"; sleep 600';
    const node = sampleNode(binary, { variables: variables() }, { module: slow });
    const running = node.run('configure', {}, { signal: stop.signal });
    const failed = expect(running).rejects.toThrow('the operation is stopped');
    await eventually(() => expect(existsSync(join(place, 'page'))).toBe(true));
    stop.abort();
    await failed;
    const state = JSON.parse(Buffer.from(node.files.get(FILES.state)!).toString());
    expect(state.resources.map(({ name }: { name: string }) => name)).toContain('greeting');
    expect(node.locks.size).toBe(0);
  },
);

test.each(binaries)(
  'with %s the state is stored while the program still runs: a worker that dies takes nothing along',
  async (_, binary) => {
    const slow = structuredClone(sampleModule);
    slow.resource.terraform_data.page.provisioner[0]!['local-exec'].command =
      `while [ ! -e "${place}/go" ]; do sleep 0.05; done`;
    const node = sampleNode(binary, { variables: variables() }, { module: slow });
    const running = node.run('configure');
    await eventually(() => expect(node.files.has(FILES.state)).toBe(true));
    const state = JSON.parse(Buffer.from(node.files.get(FILES.state)!).toString());
    expect(state.resources.map(({ name }: { name: string }) => name)).toContain('greeting');
    writeFileSync(join(place, 'go'), '');
    await running;
  },
);

it('the module of the original plugin, with its state in a runtime property, is moved to files', async () => {
  const first = sampleNode(standIn, { variables: variables() });
  await first.run('configure');
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(JSON.stringify(sampleModule)), 'main.tf.json');
  zip.addBuffer(Buffer.from(first.files.get(FILES.state)!), 'terraform.tfstate');
  zip.end();
  const packed = (await buffer(zip.outputStream as never)).toString('base64');
  const moved = sampleNode(standIn, { variables: variables() }, { runtime: { terraform_source: packed } });
  await moved.run('check_status');
  expect(moved.runtimeProperties).not.toHaveProperty('terraform_source');
  expect([...moved.files.keys()].sort()).toEqual([FILES.source, FILES.state]);
  await moved.run('delete');
  expect(moved.files.size).toBe(0);
});

it('a linter that is not there is an error that says so; one that is there runs with its flags', async () => {
  const node = sampleNode(standIn, { variables: variables() });
  await expect(node.run('tflint')).rejects.toThrow(
    'tflint is not on this machine: give its path as tflint_config.executable_path',
  );
  const lint = join(place, 'lint');
  writeFileSync(lint, `#!/bin/sh\necho "checked $*"; exit $(cat ${place}/code)\n`, { mode: 0o755 });
  writeFileSync(join(place, 'code'), '0');
  await node.run('tfsec', { tfsec_config: { executable_path: lint, flags_override: ['soft_fail'] } });
  expect(node.log).toContainEqual({ level: 'info', message: 'checked . --no-color --soft-fail' });
  writeFileSync(join(place, 'code'), '3');
  await expect(node.run('tfsec', { tfsec_config: { executable_path: lint } })).rejects.toThrow(
    'lint ended with 3',
  );
});

test.each([
  [
    'a variable of the environment with a wrong name',
    { environment_variables: { 'A=B': 'x' } },
    'is no name',
  ],
  [
    'a file of providers out of the module',
    { provider: { filename: '../evil.tf', providers: [{ name: 'x' }] } },
    'is no name of a file in the module',
  ],
  ['a file of variables out of the module', { tfvars: '../../etc/passwd' }, 'resource_config.tfvars'],
  [
    'a source of another kind',
    { source: 'file:///etc' },
    'expected a path in the blueprint, http://, https:// or git::, got file:',
  ],
  [
    'a git reference that is a flag',
    { source: 'git::https://example.org/x.git?ref=--upload-pack=id' },
    'ref is no name',
  ],
  ['a git transport that runs programs', { source: 'git::ext::sh -c id' }, 'expected git::https://'],
  ['a module that is not there', { source: 'nowhere' }, 'the test gives no files below nowhere'],
])('refuses %s', async (_, config, message) => {
  const node = sampleNode(standIn, { variables: variables(), ...config });
  await expect(node.run('configure')).rejects.toThrow(message);
});
