import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@baton/testkit/eventually';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { isRunning, makeRig } from '../testing/memory-host';

const failed = (isRecoverable: boolean, exceptionType: string, message: unknown) => ({
  kind: 'failed',
  isRecoverable,
  failure: expect.objectContaining({ exceptionType, message }),
});
const ILLEGAL = 'ctx may only abort or return once';

it.each<[string, object, boolean, RegExp]>([
  [
    'an input that no process can take',
    { big: 'x'.repeat(200_000) },
    false,
    /^the inputs are more than .* largest, big, has 200000/,
  ],
  [
    'a folder that is not there',
    { process: { cwd: '/etc/passwd/x' } },
    true,
    /^process.cwd: there is no folder \/etc/,
  ],
  ['an argument with NUL', { process: { args: ['a\0b'] } }, true, /null bytes/],
])('says what is wrong with %s', async (_, inputs, isRecoverable, message) => {
  expect(await makeRig().script('#!/bin/bash\ntrue', inputs as never)).toMatchObject({
    kind: 'failed',
    isRecoverable,
    failure: { message: expect.stringMatching(message) },
  });
});

describe('the result of a script', () => {
  it.each([
    ['nothing', 'echo 5', null],
    ['a text', 'ctx returns value', 'value'],
    ['JSON', `ctx returns '@["1", 2, true]'`, ['1', 2, true]],
    ['an object', `ctx returns '@{"a": 1}'`, { a: 1 }],
  ])('is %s', async (_, command, result) => {
    expect(await makeRig().script(`#!/bin/bash\n${command}`)).toEqual({ kind: 'succeeded', result });
  });

  it.each([
    ['returns twice', 'ctx returns a; ctx returns b; true'],
    ['returns then aborts', 'ctx returns a; ctx abort-operation b'],
    ['aborts then returns', 'ctx abort-operation a; ctx returns b; exit 0'],
  ])('is fatal when it %s', async (_, command) => {
    expect(await makeRig().script(`#!/bin/bash\n${command}`)).toMatchObject(
      failed(false, 'NonRecoverableError', ILLEGAL),
    );
  });

  it('is fatal after abort and a retry after retry, whatever the exit code', async () => {
    expect(await makeRig().script('#!/bin/bash\nctx abort-operation "no way"; exit 0')).toMatchObject(
      failed(false, 'NonRecoverableError', 'no way'),
    );
    expect(
      await makeRig().script('#!/bin/bash\nctx retry-operation later \'@{"retry_after": 5}\'; exit 0'),
    ).toMatchObject({
      kind: 'retry',
      retryAfter: 5,
      failure: { exceptionType: 'OperationRetry', message: 'later', traceback: null },
    });
    expect(await makeRig().script('#!/bin/bash\nctx operation retry soon; ctx returns 1')).toMatchObject({
      kind: 'retry',
      failure: { message: 'soon' },
    });
  });

  it('is a recoverable ProcessException with command, code and output for other exit codes', async () => {
    const end = await makeRig().script('#!/bin/bash\necho printed; echo wrong >&2; exit 7');
    expect(end).toMatchObject(
      failed(
        true,
        'ProcessException',
        expect.stringMatching(/^command: \S+\/script\.sh, exit_code: 7, stdout: printed, stderr: wrong$/),
      ),
    );
    expect(await makeRig().script('#!/bin/bash\nunknown_command')).toMatchObject(
      failed(true, 'ProcessException', expect.stringContaining('exit_code: 127')),
    );
  });

  it('ends a script that sources ctx-sh at the first failing ctx', async () => {
    const rig = makeRig();
    const file = `${rig.host.root}/message`;
    const end = await rig.script(`#!/bin/bash\n. ctx-sh; ctx retry_operation msg 2>${file}; echo never`);
    expect(end.kind).toBe('retry');
    expect(readFileSync(file, 'utf8')).toBe('msg\n');
    expect(rig.host.logged()).toEqual([]);
  });
});

describe('the process of a script', () => {
  it('gets inputs and process.env as variables, converted, and nothing of our own environment', async () => {
    const rig = makeRig();
    process.env.BATON_TEST_KEY = 'secret';
    const inputs = {
      text: 'a b',
      flag: true,
      none: null,
      list: [1, { a: 'b' }],
      n: 1.5,
      process: { env: { text: 'wins' }, args: ['x', 'y z'] },
    };
    await rig.script(
      '#!/bin/bash\nenv | grep -E "^(text|flag|none|list|n|BATON_.*|script_source|process)=" | sort; echo "$# $1"; echo $TMPDIR',
      inputs,
    );
    delete process.env.BATON_TEST_KEY;
    const lines = rig.host.logged();
    expect(lines.slice(0, 5)).toEqual([
      '<out> flag=true',
      '<out> list=[1,{"a":"b"}]',
      '<out> n=1.5',
      '<out> none=None',
      '<out> text=wins',
    ]);
    expect(lines[5]).toBe('<out> 3 x');
    expect(lines[6]).toContain(rig.deps.scripts.workRoot);
  });

  it.each([
    ['a shell, from the blueprint', 'win.sh', '#!/bin/bash\r\nif true; then\r\n  echo "a b"\r\nfi\r\n'],
    ['only the first line', 'win.sh', '#!/bin/bash\r\necho "a b"\n'],
    ['an interpreter with an option', 'win.pl', '#!/usr/bin/env python3\r\nprint("a b")\r\n'],
    ['no first line of a program', 'win.sh', 'echo "a b"\r\n'],
    ['Python', 'win.py', '#!/usr/bin/env python3\r\nif True:\r\n    print("a b")\r\n'],
  ])('comes out of a text with line ends of Windows: %s', async (_, name, text) => {
    const rig = makeRig();
    rig.host.files = { [name]: text };
    expect(await rig.run({ inputs: { script_path: name } })).toMatchObject({ kind: 'succeeded' });
    expect(rig.host.logged().at(-1)).toBe('<out> a b');
    if (name === 'win.py') return;
    const inline = makeRig();
    expect(await inline.script(text)).toMatchObject({ kind: 'succeeded' });
    expect(inline.host.logged()).toEqual(['<out> a b']);
  });

  it('keeps a carriage return that the script means', async () => {
    const rig = makeRig();
    const text = '#!/bin/bash\nprintf "%s" "x\r\ny" | od -An -c | tr -d " "';
    expect(await rig.script(text)).toMatchObject({ kind: 'succeeded' });
    expect(rig.host.logged()).toEqual(['<out> x\\r\\ny']);
  });

  it('is logged line by line, or not at all when told so', async () => {
    const rig = makeRig();
    const script = '#!/bin/bash\nprintf "one\\r\\ntwo\\xff\\n"; echo three >&2';
    await rig.script(script);
    expect(rig.host.logged().sort()).toEqual(['<err> three', '<out> one', '<out> two\ufffd']);
    expect(rig.host.lines.map((l) => l.message)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Process created, PID: \d+$/),
        expect.stringMatching(/^Execution done \(PID=\d+, return_code=0\): /),
      ]),
    );
    rig.host.lines.length = 0;
    await rig.script(script, { process: { log_stdout: false, log_stderr: false } });
    expect(rig.host.logged()).toEqual([]);
    await rig.script(script, { process: { stderr_to_stdout: true } });
    expect(rig.host.logged()).toContain('<out> three');
  });

  it('comes from a file, a prefix runs it, and a missing file is fatal', async () => {
    const rig = makeRig();
    rig.host.files['scripts/go.sh'] = 'echo "from $0" | sed "s,.*/,,"';
    await rig.run({
      inputs: { script_path: 'scripts/go.sh', process: { command_prefix: 'bash -e', cwd: '/' } },
    });
    expect(rig.host.logged().at(-1)).toBe('<out> go.sh');
    expect(await rig.run({ inputs: { script_path: 'scripts/no.sh' } })).toMatchObject(
      failed(false, 'HttpException', 'Resource not found: scripts/no.sh'),
    );
    await rig.run({ inputs: { script_path: 'https://host/ok.sh?x=1' } });
    expect(rig.host.logged().at(-1)).toBe('<out> fetched');
    expect(await rig.run({ inputs: { script_path: 'http://host/other' } })).toMatchObject(
      failed(false, 'NonRecoverableError', 'Failed downloading script: http://host/other (status code: 404)'),
    );
  });

  it.each([
    [{}, 'Either script_path or script_source must be provided'],
    [{ script_path: 'a', script_source: 'b' }, 'Only provide script_path or script_source, not both'],
    [
      { script_source: 'x', process: { ctx_proxy_type: 'zmq' } },
      'Unsupported proxy type: zmq; expected auto, http or none',
    ],
    [{ script_source: 'x', process: { args: 'one' } }, 'process.args must be a list'],
  ])('is not started with wrong inputs %#', async (inputs, message) => {
    expect(await makeRig().run({ inputs })).toMatchObject(failed(false, 'NonRecoverableError', message));
  });

  it('loses nothing that it printed when its lines are held back beyond its end', async () => {
    const rig = makeRig();
    const emit = rig.host.emit;
    let isHeld = false;
    rig.host.emit = (...line) => {
      void emit(...line);
      if (isHeld || !line[2].startsWith('<out>')) return;
      isHeld = true;
      // Longer than the time for which the pipes of a background process are read.
      return letTimePass(1_300, 'a host that is slow');
    };
    const end = await rig.script('#!/bin/bash\nfor i in 1 2 3; do echo "$i $(printf %050000d 0)"; done');
    expect(end.kind).toBe('succeeded');
    const lines = rig.host.logged().filter((line) => line.startsWith('<out>'));
    expect(lines.map((line) => line.slice(0, 7))).toEqual(['<out> 1', '<out> 2', '<out> 3']);
  });

  it('does not hold up the end when a background process keeps the output open', async () => {
    const rig = makeRig();
    const end = await rig.script('#!/bin/bash\nsleep 60 &\necho $! > $(ctx local-deployment-workdir)/pid');
    expect(end.kind).toBe('succeeded');
    const pid = Number(readFileSync(`${rig.host.root}/deployments/default_tenant/dep/pid`, 'utf8'));
    expect(() => process.kill(pid, 'SIGKILL')).not.toThrow();
  });
});

it('cuts long output only where the host says that no secret lies across', async () => {
  const rig = makeRig();
  const secret = 'secret-value';
  rig.host.cutText = (text, at, side) => {
    // No other output begins like the secret.
    const from = text.indexOf('s');
    const isTorn = from >= 0 && from < at && (at < from + secret.length || at === text.length);
    return !isTorn ? at : side === 'before' ? from : from + secret.length;
  };
  const fill = (letter: string, count: number) => `head -c ${count} /dev/zero | tr '\\0' ${letter}`;
  const half = 64 * 1024;
  const end = await rig.script(
    `#!/bin/bash\n${fill('x', half + 10)}; printf secret-; sleep 0.2; printf value; ${fill('y', half - 7)}; exit 1`,
  );
  const pieces = rig.host.logged().map((line) => line.replace('<out> ', ''));
  expect(pieces.join('')).toHaveLength(2 * half + 3 + secret.length);
  expect(pieces.filter((piece) => piece.includes(secret))).toHaveLength(1);
  const { message } = (end as { failure: { message: string } }).failure;
  expect(message).toMatch(/stdout: y/);
});

describe('stopping a script', () => {
  it('happens also when this process dies: a guard kills the groups that it left', async () => {
    const group = spawn('/bin/sh', ['-c', 'sleep 60 & wait'], { detached: true, stdio: 'ignore' });
    const guardModule = JSON.stringify(join(__dirname, 'orphan-guard.ts'));
    const owner = spawn(
      process.execPath,
      [
        '-e',
        `require('@swc/core');const {transformFileSync}=require('@swc/core');const m={exports:{}};new Function('module','exports','require',transformFileSync(${guardModule},{jsc:{parser:{syntax:'typescript'}},module:{type:'commonjs'}}).code)(m,m.exports,require);const g=m.exports.startOrphanGuard();g.add(999999);g.add(${group.pid});g.remove(999999);console.log('ready');setInterval(()=>{},1000)`,
      ],
      { cwd: process.cwd(), stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => owner.stdout.once('data', resolve));
    expect(isRunning(group.pid as number)).toBe(true);
    owner.kill('SIGKILL');
    await eventually(() => !isRunning(group.pid as number));
  });

  it('kills the whole group at the time limit and says so', async () => {
    const rig = makeRig();
    const end = await rig.script(
      '#!/bin/bash\nctx instance runtime-properties a 1\n(trap "" TERM; sleep 60) & echo "pid $!"\nsleep 60',
      {},
      { timeoutMs: 1200 },
    );
    expect(end).toMatchObject({
      kind: 'timed-out',
      failure: {
        message: 'Process killed due to timeout of 1.2 seconds',
        exceptionType: 'NonRecoverableError',
      },
    });
    const pid = Number(/pid (\d+)/.exec(rig.host.logged().join())?.[1]);
    await eventually(() => !isRunning(pid));
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({});
  }, 15_000);

  it.each(['cancelled', 'lease-lost'] as const)('ends with the reason when it was %s', async (reason) => {
    const rig = makeRig();
    const control = new AbortController();
    const emit = rig.host.emit;
    rig.host.emit = (kind, level, message) => {
      if (message === '<out> running') control.abort(reason);
      return emit(kind, level, message);
    };
    const end = await rig.run(
      { inputs: { script_source: '#!/bin/bash\necho running; exec sleep 60' } },
      control.signal,
    );
    expect(end).toEqual({ kind: 'stopped', reason });
  });
});
