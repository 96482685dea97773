// Scripts on a real sshd that call ctx.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SshHost, sshHost } from '@baton/testkit';
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

const baseDir = (): string => join(host.home, 'tmp');
const script = (text: string, inputs: Record<string, unknown> = {}, env: Record<string, unknown> = {}) => {
  rig.host.files['scripts/run.sh'] = text;
  const { process = {}, ...others } = inputs;
  return rig.fabric(
    'run_script',
    {
      script_path: 'scripts/run.sh',
      process: { base_dir: baseDir(), ...(process as object) },
      ...others,
    } as never,
    env as never,
  );
};

test('a script reads and writes through ctx, and returns a value', async () => {
  const end = await script(`#!/bin/bash
ctx logger info "port $(ctx node properties port)"
ctx instance runtime-properties seen "$(ctx node properties nested.list[0].name)"
ctx instance runtime-properties map @'{"a": [1]}'
ctx instance update
ctx returns "from $(ctx instance id)"
`);
  expect(end).toEqual({ kind: 'succeeded', result: 'from web_abc123' });
  expect(rig.runtime()).toEqual({ seen: 'first', map: { a: [1] } });
  expect(rig.lines()).toContain('port 8080');
});

test('lines come into the log; variables come from inputs and process.env, whatever stands in them', async () => {
  const { kind } = await script('#!/bin/bash\necho "$TEXT|$LIST|$WON|$1|$2"; pwd; command -v ctx', {
    TEXT: `it's $(id) "two"\nlines`,
    LIST: ['a', 1],
    WON: 'input',
    process: { env: { WON: 'process' }, args: ['a b', '$(id)'] },
  });
  expect(kind).toBe('succeeded');
  expect(rig.lines().filter((line) => line.startsWith('[out]'))).toEqual([
    `[out] it's $(id) "two"`,
    '[out] lines|["a",1]|process|a b|$(id)',
    `[out] ${baseDir()}/cloudify-ctx/work`,
    `[out] ${baseDir()}/cloudify-ctx/ctx`,
  ]);
});

test('a script in Python imports ctx, another one has Windows line ends', async () => {
  const python = await script(`#!/usr/bin/env python3
from cloudify import ctx
ctx.instance.runtime_properties['from_python'] = {'port': ctx.node.properties['port']}
`);
  expect(python.kind).toBe('succeeded');
  expect(rig.runtime()).toEqual({ from_python: { port: 8080 } });
  const windows = await script('#!/bin/bash\r\nctx returns "done"\r\n');
  expect(windows).toEqual({ kind: 'succeeded', result: 'done' });
});

test('download-resource writes at the host', async () => {
  rig.host.files['resources/page.html'] = 'port {{ ctx.node.properties.port }}';
  const end = await script(`#!/bin/bash
cat "$(ctx download-resource resources/page.html)"; echo
ctx download-resource-and-render resources/page.html "$HOME/it's a page" >/dev/null
ctx returns "$(cat "$HOME/it's a page")"`);
  expect(end).toEqual({ kind: 'succeeded', result: 'port 8080' });
  expect(rig.lines()).toContain('[out] port {{ ctx.node.properties.port }}');
});

test.each([
  ['abort-operation "no use"', { kind: 'failed', isRecoverable: false, failure: { message: 'no use' } }],
  ['retry-operation "later" 7', { kind: 'retry', retryAfter: 7, failure: { message: 'later' } }],
])('the script decides with ctx %s', async (call, expected) => {
  expect(await script(`#!/bin/bash\nctx ${call}\nexit 0`)).toMatchObject(expected);
});

test('an exit code fails the operation, and the script is removed', async () => {
  const failed = await script('#!/bin/bash\necho "no disk" >&2\nexit 5');
  expect(failed).toMatchObject({
    kind: 'failed',
    isRecoverable: true,
    failure: { message: expect.stringContaining('ended with 5: no disk') },
  });
  const fatal = await script('#!/bin/bash\nexit 6', { non_recoverable_error_exit_codes: [6] });
  expect(fatal).toMatchObject({ kind: 'failed', isRecoverable: false });
  expect(readdirSync(join(baseDir(), 'cloudify-ctx/scripts'))).toEqual([]);
});

test('sudo: ctx and the variables are there for root, also by a password', async () => {
  const end = await script(
    '#!/bin/bash\nctx returns "$(id -un) $A"',
    { use_sudo: true, A: 'x y' },
    { sudo_password: host.password },
  );
  expect(end).toEqual({ kind: 'succeeded', result: 'root x y' });
});

test('the environment of the author may extend the path', async () => {
  const end = await script('#!/bin/bash\nctx returns "$PATH"', {
    process: { env: { PATH: '/opt/it is/bin:$PATH' } },
  });
  expect((end as { result: string }).result).toMatch(/cloudify-ctx:\/opt\/it is\/bin:.*\/usr\/bin/);
});

test('a host without forwarding runs scripts that need no ctx, and says so for others', async () => {
  const closed = await sshHost(['AllowTcpForwarding no']);
  try {
    rig = fabricRig(closed);
    const refused = await script('#!/bin/bash\necho hello');
    expect(refused).toMatchObject({
      kind: 'failed',
      failure: { message: expect.stringContaining('AllowTcpForwarding') },
    });
    const { kind } = await script('#!/bin/bash\necho hello', {
      process: { ctx_proxy_type: 'none', base_dir: join(closed.home, 't') },
    });
    expect(kind).toBe('succeeded');
  } finally {
    await closed.stop();
  }
});

test('a folder that somebody else has put in the way is not used', async () => {
  const shared = join(host.folder, 'shared');
  const asRoot = { user: 'root' };
  await rig.fabric(
    'run_commands',
    { commands: [`mkdir -m 1777 ${shared}`, `mkdir -m 777 ${shared}/cloudify-ctx`] },
    asRoot,
  );
  const end = await script('#!/bin/bash\nctx returns "$0"', { process: { base_dir: shared } });
  expect((end as { result: string }).result).toContain(`${shared}/cloudify-ctx-23456/scripts/run.sh-`);
  expect(existsSync(join(shared, 'cloudify-ctx/ctx'))).toBe(false);
  expect(readFileSync(join(shared, 'cloudify-ctx-23456/ctx'), 'utf8')).toContain('CTX_SOCKET_URL');
});

test('the address of ctx answers nobody else: other paths, and calls of the runner in Python', async () => {
  const end = await script(`#!/bin/bash
root=\${CTX_SOCKET_URL%/*}
ctx returns "$(curl -s -o /dev/null -w '%{http_code}' -d '{"args": ["node", "id"]}' $root/other) \\
$(curl -s -d '{"op": "save", "side": "own", "properties": {}}' $CTX_SOCKET_URL)"`);
  expect((end as { result: string }).result).toMatch(/^404 .*only the command ctx/);
});

test('a host without bash: ctx runs by Python, and commands by the shell of POSIX', async () => {
  const small = await sshHost([], false);
  try {
    rig = fabricRig(small);
    const process = { base_dir: join(small.home, 'run') };
    const end = await script(
      '#!/bin/sh\nctx logger info "$(ctx node properties port)"\nctx returns "it is $0"',
      { process },
    );
    expect(end).toMatchObject({ kind: 'succeeded', result: expect.stringContaining('it is /') });
    expect(rig.lines()).toContain('8080');
    expect(await script('#!/bin/sh\nctx abort-operation "no use"', { process })).toMatchObject({
      isRecoverable: false,
    });
    const lines =
      '#!/bin/sh\nprintf "instance runtime-properties a 1\ninstance runtime-properties b @[2]\n" | ctx -';
    await script(lines, { process });
    expect(rig.runtime()).toEqual({ a: '1', b: [2] });
  } finally {
    await small.stop();
  }
});
