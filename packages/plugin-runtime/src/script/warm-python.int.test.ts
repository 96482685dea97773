import { existsSync, readdirSync } from 'node:fs';
import { eventually } from '@baton/testkit';
import { isRunning } from '../testing/memory-host';
import { warmRig } from '../testing/warm-rig';
import { ownDir } from './settings';
import type { WarmPython } from './warm-python';

const TASKS = `
import os, signal, subprocess, sys, threading, time
from cloudify import ctx
from cloudify.exceptions import NonRecoverableError

os.environ['IMPORTED_BY'] = str(os.getpid())
seen = []

def where(ctx, **inputs):
    seen.append(1)
    print('printed'); sys.stderr.write('told')
    ctx.instance.runtime_properties['x'] = inputs.get('x')
    return {'server': os.environ['IMPORTED_BY'] if os.environ['IMPORTED_BY'] != str(os.getpid()) else None,
            'seen': len(seen), 'inputs': inputs, 'tmp': os.listdir('/tmp') if inputs.get('look') else None,
            'own': [os.listdir('.'), [n for n in os.listdir(os.environ['TMPDIR']) if not n.startswith('baton-')]], 'argv': sys.argv[1:],
            'descriptors': len(os.listdir('/proc/self/fd')), 'stdin': sys.stdin.read()}

def fails(**_):
    raise NonRecoverableError('no')

def exits(code, **_):
    sys.exit(code)

def dies(**_):
    os.kill(os.getpid(), signal.SIGKILL)

def kills_server(**_):
    print('begun', flush=True)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)

def litters(**_):
    for place in (os.environ['TMPDIR'], '.'):
        os.makedirs(os.path.join(place, 'deep/er'))
        open(os.path.join(place, '-rf x'), 'w').close()

def shuts(**_):
    os.chmod(os.environ['TMPDIR'], 0o500)

def leaves(**_):
    child = subprocess.Popen(['sleep', '300'], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    return child.pid

def waits(**_):
    print('begun', flush=True)
    time.sleep(300)

def attacks(**_):
    found = []
    for name in ('mem', 'environ', 'fd'):
        path = '/proc/%d/%s' % (os.getppid(), name)
        try:
            os.listdir(path) if name == 'fd' else open(path, 'rb+' if name == 'mem' else 'rb').close()
            found.append(name)
        except OSError:
            pass
    return found

def long(**_):
    sys.stdout.write('y' * 3000000 + '\\n')
    threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()
`;
/** A module that writes a frame to every descriptor of the process that imports it. */
const forging = (kind: string, content: string) => `
import os
content = ${JSON.stringify(content)}.encode()
for descriptor in os.listdir('/proc/self/fd'):
    try:
        os.write(int(descriptor), b'${kind}' + len(content).to_bytes(4, 'big') + content)
    except OSError:
        pass

def run(**_):
    return 'done'
`;
const isBubblewrap = existsSync('/usr/bin/bwrap') && process.getuid?.() === 0;
const MODES = isBubblewrap ? (['none', 'bubblewrap'] as const) : (['none'] as const);

describe.each(MODES)('functions of Python in forks, isolation %s', (mode) => {
  const running = warmRigs();
  const rigFor = (
    modules: Record<string, string> = { mine: TASKS },
    limits?: Parameters<typeof warmRig>[1],
  ) => running.add(warmRig(modules, { mode, ...limits }));

  it('share one import, and nothing else', async () => {
    const rig = rigFor();
    const results = [];
    for (const x of [1, 2]) results.push(await rig.run({ mapping: 'mine.where', inputs: { x } }));
    const [first, second] = results.map((end) => (end.kind === 'succeeded' ? end.result : end)) as object[];
    expect(first).toMatchObject({
      server: expect.any(String),
      seen: 1,
      inputs: { x: 1 },
      own: [[], []],
      argv: ['mine.where', 'function'],
      stdin: '',
    });
    expect(second).toEqual({ ...first, inputs: { x: 2 } });
    delete rig.deps.warm;
    const cold = await rig.run({ mapping: 'mine.where', inputs: { x: 2 } });
    expect(cold).toEqual({ kind: 'succeeded', result: { ...second, server: null } });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({ x: 2 });
    expect(rig.host.logged().sort()).toEqual([
      ...Array(3).fill('<err> told'),
      ...Array(3).fill('<out> printed'),
    ]);
  });

  it('end with what they raise, exit with and die of', async () => {
    const rig = rigFor();
    expect(await rig.run({ mapping: 'mine.fails', inputs: {} })).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: 'no' },
    });
    expect(await rig.run({ mapping: 'mine.exits', inputs: { code: 3 } })).toMatchObject({
      kind: 'failed',
      failure: { message: 'command: mine.exits, exit_code: 3' },
    });
    expect(await rig.run({ mapping: 'mine.dies', inputs: {} })).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: { message: 'command: mine.dies, exit_code: -9' },
    });
    expect(await rig.run({ mapping: 'mine.nothing', inputs: {} })).toMatchObject({
      isRecoverable: false,
      failure: { message: "mine has no function named 'nothing' " },
    });
  });

  it('do not meet the files of the one before', async () => {
    const rig = rigFor();
    const before = await rig.run({ mapping: 'mine.where', inputs: { look: true } });
    await rig.run({ mapping: 'mine.litters', inputs: {} });
    expect(await rig.run({ mapping: 'mine.where', inputs: { look: true } })).toEqual(
      mode === 'none' ? expect.anything() : before,
    );
    await rig.run({ mapping: 'mine.shuts', inputs: {} });
    const after = await rig.run({ mapping: 'mine.where', inputs: {} });
    expect(after).toMatchObject({ result: { own: [[], []] } });
    expect(serverOf(after)).not.toBeNull();
  });

  it('meet no process of the one before, and it goes on', async () => {
    const rig = rigFor();
    const first = await rig.run({ mapping: 'mine.where', inputs: {} });
    const left = await rig.run({ mapping: 'mine.leaves', inputs: {} });
    const second = await rig.run({ mapping: 'mine.where', inputs: {} });
    expect(second).toMatchObject({ kind: 'succeeded' });
    if (mode !== 'none') return;
    expect(serverOf(second)).not.toBe(serverOf(first));
    const pid = (left as { result: number }).result;
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });

  it('fail alone when their server is killed, and the next one gets another', async () => {
    const rig = rigFor();
    expect(await rig.run({ mapping: 'mine.kills_server', inputs: {} })).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: { exceptionType: 'ProcessException' },
    });
    expect(await rig.run({ mapping: 'mine.where', inputs: {} })).toMatchObject({ kind: 'succeeded' });
  }, 30_000);

  it.each([
    ['an end', 'x', '{"code": 0, "left": null, "kilobytes": 1}'],
    ['output', 'o', 'a line'],
  ])('run cold, and end, where the import forges %s of an operation', async (_name, kind, content) => {
    const rig = rigFor({ mine: forging(kind, content) });
    expect(await rig.run({ mapping: 'mine.run' })).toEqual({ kind: 'succeeded', result: 'done' });
  });

  it('cannot read or change the memory of the server', async () => {
    const rig = rigFor();
    const end = await rig.run({ mapping: 'mine.attacks', inputs: {} });
    // Without isolation as root, every file of every process is open anyway.
    expect(end).toMatchObject({ result: mode === 'none' ? expect.anything() : [] });
  });

  it('stop at a cancel with everything they have started', async () => {
    const rig = rigFor();
    const stop = new AbortController();
    const end = rig.run({ mapping: 'mine.waits', inputs: {} }, stop.signal);
    await eventually(() => expect(rig.host.logged()).toEqual(['<out> begun']));
    stop.abort('cancelled');
    expect(await end).toEqual({ kind: 'stopped', reason: 'cancelled' });
    expect(readdirSync(ownDir(rig.deps.scripts.workRoot, 'runs'))).toEqual([]);
    expect(await rig.run({ mapping: 'mine.where', inputs: {} })).toMatchObject({ kind: 'succeeded' });
  }, 30_000);

  it('lose nothing of a long output or of threads that outlive the function', async () => {
    const rig = rigFor();
    await rig.run({ mapping: 'mine.long', inputs: {} });
    const lines = rig.host.logged();
    expect(lines.reduce((sum, line) => sum + line.replace('<out> ', '').length, 0)).toBe(3_000_004);
    expect(lines.at(-1)).toBe('<out> late');
  });

  it.each([
    [
      'starts threads',
      'import threading, time\nthreading.Thread(target=lambda: time.sleep(60), daemon=True).start()',
    ],
    ['opens files', 'kept = open("/dev/null")'],
    ['prints', 'print("hello")'],
    ['asks for the context', 'try:\n    ctx.instance.id\nexcept Exception:\n    pass'],
    [
      'starts processes',
      'import subprocess\nkept = subprocess.Popen(["sleep", "60"])\nimport atexit\natexit.register(kept.kill)',
    ],
  ])('are processes of their own when the import %s', async (_, text) => {
    const module = `from cloudify import ctx\nimport os\nos.environ['AT'] = str(os.getpid())\n${text}\ndef own(**_):\n    return os.environ['AT'] == str(os.getpid())\n`;
    const rig = rigFor({ odd: module, mine: TASKS });
    for (let i = 0; i < 2; i++)
      expect(await rig.run({ mapping: 'odd.own', inputs: {} })).toEqual({ kind: 'succeeded', result: true });
    expect(serverOf(await rig.run({ mapping: 'mine.where', inputs: {} }))).not.toBeNull();
  });

  it('of other deployments and tenants have other servers, of which the oldest ends for a new one', async () => {
    const rig = rigFor(undefined, {
      limits: { servers: 2, serverBytes: 1e9, waitingBytes: 1e9, idleMs: 60_000 },
    });
    const servers = [];
    for (const deploymentId of ['a', 'b', 'c'])
      servers.push(serverOf(await rig.run({ mapping: 'mine.where', inputs: {}, deploymentId })));
    if (mode === 'none') expect(new Set(servers).size).toBe(3);
    await eventually(() => expect(readdirSync(ownDir(rig.deps.scripts.workRoot, 'runs'))).toHaveLength(2));
  });

  it('run cold when all servers are busy, or where one takes too much memory', async () => {
    const none = { servers: 0, serverBytes: 1e9, waitingBytes: 1e9, idleMs: 60_000 };
    expect(
      serverOf(await rigFor(undefined, { limits: none }).run({ mapping: 'mine.where', inputs: {} })),
    ).toBeNull();
    const rig = rigFor(undefined, { limits: { ...none, servers: 2, serverBytes: 1 } });
    await rig.run({ mapping: 'mine.where', inputs: {} });
    expect(readdirSync(ownDir(rig.deps.scripts.workRoot, 'runs'))).toEqual([]);
  });

  it('leave no server behind when the worker ends, or when nobody has needed it for a while', async () => {
    const rig = rigFor(undefined, { limits: { servers: 2, serverBytes: 1e9, waitingBytes: 1e9, idleMs: 1 } });
    await rig.run({ mapping: 'mine.where', inputs: {} });
    const runs = ownDir(rig.deps.scripts.workRoot, 'runs');
    await eventually(() => expect(readdirSync(runs)).toEqual([]));
    await rig.deps.warm?.close();
    expect(serverOf(await rig.run({ mapping: 'mine.where', inputs: {} }))).toBeNull();
  });
});

/** Ends the servers of all rigs after each test. */
function warmRigs() {
  const servers: (WarmPython | undefined)[] = [];
  afterEach(async () => {
    for (const warm of servers.splice(0)) await warm?.close();
  });
  return {
    add: (rig: ReturnType<typeof warmRig>) => {
      servers.push(rig.deps.warm);
      return rig;
    },
  };
}

/** The server of mine.where; null: a process of its own. */
function serverOf(end: object): unknown {
  return (end as { result?: { server?: unknown } }).result?.server;
}
