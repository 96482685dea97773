// Scripts of a host that a worker runs there over SSH, with a real sshd.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@baton/kernel';
import { eventually, type SshHost, sshHost } from '@baton/testkit';
import { isRunning, makeRig, type Rig } from '../testing/memory-host';

let host: SshHost;
let rig: Rig;
let connected: number;

beforeAll(async () => {
  host = await sshHost();
});
afterAll(async () => await host?.stop());
beforeEach(() => {
  rig = makeRig();
  connected = 0;
  const { user, key, port } = host;
  rig.host.sshLogin = async () => ({
    connect: { host: host.host, port, user, key, knownHosts: [host.hostKey] },
    tempDir: tempDir(),
    connected: async () => void connected++,
  });
});

const tempDir = (): string => join(host.home, 'over');
const script = (text: string, inputs: JsonObject = {}, signal?: AbortSignal) =>
  rig.run({ isOverSsh: true, inputs: { script_source: text, ...inputs } }, signal);
const out = (): string[] => rig.host.logged().filter((line) => /^<(out|err)> /.test(line));

it('runs at the host as its user, with ctx, variables, arguments and lines in the log', async () => {
  const end = await script(
    `#!/bin/bash
echo "$(id -un) $TEXT $1"
echo bad >&2
ctx instance runtime-properties where "$(hostname)"
ctx returns "port $(ctx node properties port)"
`,
    { TEXT: `it's $(id)`, process: { args: ['a b'], env: { MORE: 'x' } } },
  );
  expect(end).toEqual({ kind: 'succeeded', result: 'port 8080' });
  expect(out()).toEqual([`<out> ${host.user} it's $(id) a b`, '<err> bad']);
  expect(rig.host.instances.get('web_abc123')!.runtime_properties).toHaveProperty('where');
  expect(connected).toBe(1);
  expect(readdirSync(tempDir())).toEqual([]);
});

it('runs a file of the blueprint in Python, with ctx of the original', async () => {
  rig.host.files['scripts/run.py'] =
    "from cloudify import ctx\nprint('here')\nctx.returns(ctx.instance.id)\n";
  const end = await rig.run({ isOverSsh: true, inputs: { script_path: 'scripts/run.py' } });
  expect(end).toEqual({ kind: 'succeeded', result: 'web_abc123' });
  expect(out()).toContain('<out> here');
});

it('fails by the exit code or by ctx, and removes its folder', async () => {
  mkdirSync(tempDir(), { recursive: true });
  expect(await script('#!/bin/sh\nexit 3\n')).toMatchObject({ kind: 'failed', isRecoverable: true });
  expect(await script('#!/bin/sh\nctx abort_operation "no way"\n')).toMatchObject({
    kind: 'failed',
    isRecoverable: false,
    failure: { message: 'no way' },
  });
  expect(await script('#!/bin/sh\nctx retry_operation later 7\n')).toMatchObject({
    kind: 'retry',
    retryAfter: 7,
  });
  expect(readdirSync(tempDir())).toEqual([]);
});

it.each(['cancelled', 'timeout'])(
  'ends the process group at the host when it is stopped (%s)',
  async (why) => {
    const control = new AbortController();
    const running = rig.run(
      {
        isOverSsh: true,
        inputs: { script_source: '#!/bin/sh\nsleep 1000 &\necho pid $!\nwait\n' },
        timeoutMs: why === 'timeout' ? 3000 : null,
      },
      control.signal,
    );
    const pid = await eventually(() => {
      const found = /<out> pid (\d+)/.exec(out().join('\n'));
      if (!found) throw new Error('it does not run yet');
      return Number(found[1]);
    });
    if (why === 'cancelled') control.abort('cancelled');
    expect(await running).toMatchObject({ kind: why === 'timeout' ? 'timed-out' : 'stopped' });
    await eventually(() => !isRunning(pid));
    expect(readdirSync(tempDir())).toEqual([]);
  },
);

it('refuses what is no script, with what to do', async () => {
  const end = await rig.run({
    isOverSsh: true,
    mapping: 'plugin.tasks.make',
    plugin: { name: 'plugin', packageName: null, packageVersion: null, source: null, properties: {} },
  });
  expect(end).toMatchObject({
    kind: 'failed',
    isRecoverable: false,
    failure: { message: expect.stringMatching(/cannot run over SSH.*install_method: remote/) },
  });
});
