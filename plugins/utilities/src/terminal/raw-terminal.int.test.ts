// Calls at the login shell of a real sshd, and at devices that do odd things.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { testNode } from '@baton/plugin-sdk/testing';
import { freePort, type SshHost, sshHost } from '@baton/testkit';
import plugin from '../plugin';
import { type OddDevice, oddDevice } from './testing-device';

let host: SshHost;

beforeAll(async () => {
  // The prompt of bash, as devices have it.
  host = await sshHost(['SetEnv PS1=device#']);
});
afterAll(async () => await host?.stop());

const auth = () => ({
  ip: host.host,
  port: host.port,
  user: 'root',
  key_content: host.key,
  promt_check: ['#', '$'],
});
const node = (more: object = {}, files: Record<string, string> = {}) =>
  testNode(plugin, 'cloudify.nodes.terminal.Raw', {
    properties: { terminal_auth: { ...auth(), ...more } },
    files,
  });

test('calls run in order in one login, and their output is kept without what was typed', async () => {
  const device = node({ password: 'hidden-word' }, { 'show.txt': 'echo {{ word }}\n\necho $A\n' });
  await device.run('create', {
    calls: [
      { action: 'A="one two"' },
      { action: 'printf "%s\\n" "$A" three', save_to: 'first' },
      { template: 'show.txt', params: { word: 'rendered' }, save_to: 'second' },
      { template_text: 'echo {{ word }} hidden-word', params: { word: 'text' } },
    ],
  });
  expect(device.runtimeProperties).toMatchObject({ first: 'one two\nthree', second: 'rendered\none two' });
  expect(device.log.map(({ message }) => message).join()).toContain('text ********');
});

test('an operation that has ended does not run again, unless it is told to; stop frees start, delete forgets all', async () => {
  const device = node();
  const count = {
    calls: [{ action: `echo run >> ${host.folder}/runs; wc -l < ${host.folder}/runs`, save_to: 'runs' }],
  };
  await device.run('start', count);
  await device.run('start', count);
  expect(device.runtimeProperties.runs).toBe('1');
  await device.run('start', { ...count, force_rerun: true });
  await device.run('stop', {});
  await device.run('start', count);
  expect(device.runtimeProperties.runs).toBe('3');
  await device.run('delete', {});
  expect(device.runtimeProperties).toEqual({});
});

test('the next address when one does not answer; none that answers is tried again later', async () => {
  const reached = node({ ip: ['127.0.0.9', host.host] });
  await reached.run('create', { calls: [{ action: 'echo here', save_to: 'said' }] });
  expect(reached.runtimeProperties.said).toBe('here');
  const none = node({ port: await freePort() });
  await expect(none.run('create', { calls: [{ action: 'id' }] })).rejects.toMatchObject({
    exceptionType: 'OperationRetry',
  });
});

test('errors, criticals and warnings at the beginning of a line', async () => {
  const calls = (action: string, more: object = {}) => ({ calls: [{ action, ...more }] });
  const rules = { errors: ['% Bad'], criticals: ['% Dead'], warnings: ['% Busy'] };
  await expect(node(rules).run('create', calls('echo "% Bad thing"'))).rejects.toMatchObject({
    exceptionType: 'RecoverableError',
    message: 'root@127.0.0.1 answers: % Bad thing',
  });
  await expect(node(rules).run('create', calls('echo "% Dead"'))).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
  });
  await node(rules).run('create', calls('echo "no % Bad"'));
  const file = join(host.folder, 'busy');
  const busy = `test -e ${file} && echo ready || { touch ${file}; echo "% Busy"; }`;
  const device = node(rules);
  await device.run('create', calls(busy, { retry_sleep: 0, save_to: 'said' }));
  expect(device.runtimeProperties.said).toBe('ready');
  await expect(
    node(rules).run('create', calls('echo "% Busy"', { retry_sleep: 0, retry_count: 2 })),
  ).rejects.toThrow('after 2 tries');
});

test('questions are answered', async () => {
  const device = node();
  const responses = [{ question: 'Sure? ', answer: 'yes', newline: true }];
  await device.run('create', {
    calls: [{ action: 'read -p "Sure? " a; echo "[$a]"', responses, save_to: 'said' }],
  });
  expect(device.runtimeProperties.said).toContain('[yes]');
});

test('a smart device gets each line in a session of its own', async () => {
  const device = node({ smart_device: true });
  await device.run('create', { calls: [{ action: 'echo one; A=1\necho "[$A]"', save_to: 'said' }] });
  expect(device.runtimeProperties.said).toBe('one\n[]');
});

describe('odd devices', () => {
  let device: OddDevice;
  const odd = (more: object = {}) => node({ ...device.auth, ...more });
  const calls = { calls: [{ action: 'go', save_to: 'said' }] };
  afterEach(() => device.stop());

  test('a prompt comes in pieces, with escape codes and backspaces; a $ in a line is no prompt', async () => {
    device = await oddDevice((line, write) => {
      if (line === null) write('Welcome\r\nrou', 'ter> ');
      else write('go\r\ncosts 5$ and mo', 're\r\nabcx\b\r\n', '\u001b[31mred\u001b[0m\r\nrouter', '> ');
    });
    const one = odd({ promt_check: ['> ', '$'] });
    await one.run('create', calls);
    expect(one.runtimeProperties.said).toBe('costs 5$ and more\nabc\nred');
  });

  test('a device that closes in the middle gives what it wrote', async () => {
    device = await oddDevice((line, write, close) => {
      if (line === null) return write('# ');
      write('half');
      close();
    });
    const one = odd();
    await one.run('create', calls);
    expect(one.runtimeProperties.said).toBe('half');
  });

  test('a device that writes without end is given up', async () => {
    const flood = 'x'.repeat(64 * 1024);
    device = await oddDevice((line, write) =>
      line === null ? write('# ') : write(...Array<string>(80).fill(flood)),
    );
    await expect(odd().run('create', calls)).rejects.toThrow('writes without end');
  });

  test('a cancel closes the terminal of a silent device', async () => {
    const stop = new AbortController();
    device = await oddDevice((line, write) => (line === null ? write('# ') : stop.abort()));
    await expect(odd().run('create', calls, { signal: stop.signal })).rejects.toThrow(
      'the operation is stopped',
    );
  });
});

test('a device with another key than the known one is told nothing', async () => {
  const refused = node({ known_hosts: [`SHA256:${'A'.repeat(43)}`], password: 'hidden-word' });
  const failed = refused.run('create', { calls: [{ action: `touch ${host.folder}/evil` }] });
  await expect(failed).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
  expect(existsSync(join(host.folder, 'evil'))).toBe(false);
});
