// Commands on a real sshd, by the inputs of the original plugin.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually, freePort, type SshHost, sshHost } from '@baton/testkit';
import { type FabricRig, fabricRig } from '../testing-rig';

let host: SshHost;
let rig: FabricRig;

beforeAll(async () => {
  host = await sshHost();
});
beforeEach(() => {
  rig = fabricRig(host);
});
afterAll(async () => await host?.stop());

const failure = async (running: Promise<unknown>): Promise<{ isRecoverable: boolean; message: string }> => {
  const end = (await running) as { kind: string; isRecoverable: boolean; failure: { message: string } };
  expect(end.kind).toBe('failed');
  return { isRecoverable: end.isRecoverable, message: end.failure.message };
};

test('commands run in order, each in a shell of its own; the first failure ends them', async () => {
  const file = join(host.home, 'never');
  const failed = await failure(
    rig.fabric('run_commands', {
      commands: ['A=1; cd /', 'echo "[$A] $(pwd)"', 'echo oops >&2; false', `touch ${file}`],
    }),
  );
  expect(failed).toEqual({
    isRecoverable: true,
    message: 'the command at guest@127.0.0.1 ended with 1: oops',
  });
  expect(rig.lines()).toEqual([
    expect.stringContaining('the key of 127.0.0.1'),
    'Running command: A=1; cd /',
    'Running command: echo "[$A] $(pwd)"',
    `[out] [] ${host.home}`,
    'Running command: echo oops >&2; false',
    '[err] oops',
  ]);
  expect(existsSync(file)).toBe(false);
});

test('sudo takes the password of the login, shell_env counts, hide_output hides', async () => {
  const end = await rig.fabric(
    'run_commands',
    {
      commands: ['test "$(id -un) $A" = "root x y" && echo shown'],
      use_sudo: true,
      hide_output: ['everything'],
    },
    { key: null, password: host.password, shell_env: { A: 'x y' } },
  );
  expect(end.kind).toBe('succeeded');
  expect(rig.lines()).toHaveLength(1);
});

test('a password is in no line and no error, also when the host repeats it', async () => {
  const commands = [`echo ${host.password}; echo ${host.password} >&2; exit 3`];
  const { message } = await failure(rig.fabric('run_commands', { commands }, { password: host.password }));
  expect(message).toContain('********');
  expect(message + rig.lines().join()).not.toContain(host.password);
});

test.each([
  [{ commands: [] }, {}, 'commands: expected a list'],
  [{ commands: ['id'] }, { user: '' }, 'fabric_env.user: the user of 127.0.0.1 is missing'],
  [{ commands: ['id'] }, { key: '' }, 'fabric_env: expected key, key_filename or password for guest'],
  [{ commands: ['id'] }, { key: 'no key' }, 'the private key of guest at 127.0.0.1 cannot be read'],
  [
    { commands: ['id'] },
    { key: '', key_filename: '/none/id_rsa' },
    'key_filename: /none/id_rsa cannot be read',
  ],
  [{ commands: ['id'] }, { port: 'ssh' }, 'fabric_env.port: expected a number'],
  [{ commands: ['id'] }, { known_hosts: ['SHA256:x'] }, 'a known host key is no key'],
  [{ commands: ['id'], hide_output: ['stdot'] }, {}, 'hide_output: "stdot" is no group'],
])('wrong inputs %j %j fail for good', async (inputs, env, message) => {
  expect(await failure(rig.fabric('run_commands', inputs as never, env))).toEqual({
    isRecoverable: false,
    message: expect.stringContaining(message),
  });
});

test('the port, the host and the user may stand in host_string', async () => {
  const env = { host: null, port: null, user: null, host_string: `guest@127.0.0.1:${host.port}` };
  expect((await rig.fabric('run_commands', { commands: ['id'] }, env)).kind).toBe('succeeded');
});

test('without a host it is the address of the host of the instance', async () => {
  rig.host.instances.get('web_abc123')!.runtime_properties = { ip: '127.0.0.1' };
  rig.host.instances.get('web_abc123')!.host_id = 'web_abc123';
  expect((await rig.fabric('run_commands', { commands: ['id'] }, { host: null })).kind).toBe('succeeded');
});

test('through a gateway, whose login is that of the host unless it has its own', async () => {
  const inner = await sshHost();
  try {
    rig = fabricRig(inner);
    const { kind } = await rig.fabric(
      'run_commands',
      { commands: ['echo "$SSH_CONNECTION"'] },
      {
        gateway: [
          { host: host.host, port: host.port, user: 'root', key: host.key, known_hosts: [host.hostKey] },
        ],
      },
    );
    expect(kind).toBe('succeeded');
    expect(rig.lines().join()).toContain(` ${inner.port}`);
  } finally {
    await inner.stop();
  }
});

test('a key that was seen first is the only one from then on', async () => {
  const own = await sshHost();
  try {
    rig = fabricRig(own);
    const commands = { commands: ['id'] };
    expect((await rig.fabric('run_commands', commands, { strict: true })).kind).toBe('succeeded');
    expect(rig.runtime()).toEqual({
      __baton_host_keys: { [`127.0.0.1:${own.port}`]: expect.stringMatching(/^ssh-ed25519 SHA256:/) },
    });
    expect((await rig.fabric('run_commands', commands, { strict: true })).kind).toBe('succeeded');
    await own.changeHostKey();
    const refused = await failure(
      rig.fabric('run_commands', commands, { strict: true, password: 'never-told' }),
    );
    expect(refused).toEqual({
      isRecoverable: false,
      message: expect.stringContaining('is not the known one'),
    });
    const pinned = await failure(rig.fabric('run_commands', commands, { known_hosts: [host.hostKey] }));
    expect(pinned.isRecoverable).toBe(false);
  } finally {
    await own.stop();
  }
});

test('an address where nothing answers, and one that never says its name, fail in time', async () => {
  const closed = await failure(rig.fabric('run_commands', { commands: ['id'] }, { port: await freePort() }));
  expect(closed).toEqual({ isRecoverable: true, message: expect.stringContaining('ECONNREFUSED') });
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  const env = { port, connect_timeout: 1 };
  const never = await failure(rig.fabric('run_commands', { commands: ['id'] }, env));
  expect(never).toEqual({ isRecoverable: true, message: `127.0.0.1:${port} did not answer within 1 s` });
  silent.close();
});

test('command_timeout and a cancel end the command at the host', async () => {
  const late = await failure(
    rig.fabric('run_commands', { commands: ['sleep 8881'] }, { command_timeout: 1 }),
  );
  expect(late.message).toContain('it ran longer than 1 s');
  const stop = new AbortController();
  const running = rig.fabric('run_commands', { commands: ['sleep 8882'] }, {}, stop.signal);
  const sleepers = (): string => execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' });
  await eventually(() => sleepers().includes('sleep 8882'));
  stop.abort('cancelled');
  expect(await running).toEqual({ kind: 'stopped', reason: 'cancelled' });
  expect(sleepers()).not.toMatch(/^[^Z].*sleep 888[12]/m);
});

test('functions in Python are refused, with what to do', async () => {
  const refused = await failure(rig.fabric('run_task', { tasks_file: 't.py', task_name: 'run' }));
  expect(refused).toEqual({ isRecoverable: false, message: expect.stringContaining('use run_script') });
});
