// Plugins that break every rule they can reach: the worker goes on, and other processes do not notice.
import { eventually } from '@baton/testkit';
import { isRunning } from '../testing/memory-host';
import { MODES, type ModuleRig, makeModuleRig, moduleFolder } from '../testing/module-rig';
import { MAX_FRAME_BYTES } from './frames';

// A plugin in the process finds the wire, as no language can prevent.
const WIRE = `
const wire = process._getActiveHandles().find((one) => one.constructor.name === 'Socket' && one._handle && one._handle.fd > 2);
const raw = (text) => { const body = Buffer.from(text); const head = Buffer.alloc(4); head.writeUInt32BE(body.length); wire.write(Buffer.concat([head, body])); };
const send = (frame) => raw(JSON.stringify(frame));
const never = () => new Promise(() => undefined);
const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
`;
const OPERATIONS = `
  fine: (ctx, inputs) => inputs,
  pid: () => process.pid,
  flood: async (ctx) => { for (let i = 0; i < 50000; i++) ctx.logger.info('line ' + i); return 'done'; },
  calls: async (ctx) => {
    const node = await ctx.node();
    const instance = await ctx.instance();
    await Promise.all(Array.from({ length: 2000 }, () => instance.refresh(true)));
    return node.id;
  },
  garbage: () => { wire.write(Buffer.from('not a frame at all, and longer than four')); return never(); },
  noJson: () => { raw('{"t":'); return never(); },
  noObject: () => { raw('[1]'); return never(); },
  unknown: () => { send({ t: 'shutdown' }); return never(); },
  hello: () => { send({ t: 'hello', name: 'x', version: '', operations: [], workflows: [], secrets: [] }); return never(); },
  huge: () => { const head = Buffer.alloc(4); head.writeUInt32BE(${MAX_FRAME_BYTES + 1}); wire.write(head); return never(); },
  strangers: async () => {
    for (const op of [0, -1, 1e9, '1', null, {}]) {
      send({ t: 'end', op, end: { kind: 'succeeded', result: 'forged' } });
      send({ t: 'call', op, id: 1, method: 'open', args: [] });
      send({ t: 'line', op, kind: 'log', level: 'info', message: 'forged' });
    }
    return 'own';
  },
  foreign: async (ctx) => {
    const asked = (method, args) => new Promise((resolve) => {
      const id = 1e6 + Math.random();
      send({ t: 'call', op: Number(ctx.op ?? 1), id: Math.floor(id), method, args });
      setTimeout(resolve, 50);
    });
    await asked('save', [{ instanceId: 'db_def456', version: 1, properties: { taken: true } }]);
    await asked('save', [{ instanceId: 'web_abc123', version: '1', properties: 'x' }]);
    await asked('constructor', []);
    await asked('readPart', [{ path: '/etc/shadow' }, 0]);
    await asked('readPart', ['plain.txt', -5]);
    return 'asked';
  },
  deep: () => { raw('{"t":"end","op":1,"rss":1,"end":{"kind":"succeeded","result":' + '['.repeat(200000) + ']'.repeat(200000) + '}}'); return never(); },
  odd: (ctx, { end }) => { send({ t: 'end', op: 1, rss: 'x', end }); return never(); },
  exit: () => { console.error('about to leave'); process.stderr.write('last words\\n'); process.exit(3); },
  exitOnce: resumable(async (ctx) => { if (ctx.isResumed) return 'resumed'; await soon(20); process.exit(4); }),
  exitAlways: resumable(() => process.exit(5)),
  memory: () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); },
  block: async (ctx) => { ctx.logger.info('blocks'); await soon(20); for (;;); },
  patient: resumable(async (ctx) => { if (ctx.isResumed) return 'ran again'; await never(); }),
  helper: () => require('node:child_process').spawn('sleep', ['1000'], { stdio: 'ignore' }).pid,
  look: () => {
    const fs = require('node:fs');
    const found = [];
    for (const pid of fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)))
      try { if (fs.readFileSync('/proc/' + pid + '/environ', 'latin1').includes('BATON_TEST_MARK')) found.push(pid); } catch {}
    return found;
  },
  hide: () => {
    const path = require('node:path').join(process.env.TMPDIR, 'mine.txt');
    require('node:fs').writeFileSync(path, 'of the first tenant', { mode: 0o666 });
    return path;
  },
  read: (ctx, { path }) => require('node:fs').readFileSync(path, 'utf8'),
  write: (ctx) => require('node:fs').appendFileSync(__dirname + '/index.js', '// changed'),
`;
const folder = (): string => moduleFolder(OPERATIONS, WIRE);
const rigOf = (mode: (typeof MODES)[number] = 'none', limits = {}): ModuleRig =>
  makeModuleRig(mode, folder(), { graceMs: 200, ...limits });
const pidOf = async (rig: ModuleRig): Promise<number> =>
  ((await rig.module('pid')) as { result: number }).result;
const succeeded = (result: unknown) => ({ kind: 'succeeded', result });

it.each(['garbage', 'noJson', 'noObject', 'unknown', 'hello', 'huge'])(
  '%s on the wire ends the process, and the next operation has a new one',
  async (what) => {
    const rig = rigOf();
    const before = await pidOf(rig);
    expect(await rig.module(what)).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringMatching(/not resumable.*rules of the wire/) },
    });
    expect(isRunning(before)).toBe(false);
    expect(await rig.module('fine', { inputs: { a: 1 } })).toEqual(succeeded({ a: 1 }));
  },
);

it('messages about operations that it does not have change nothing', async () => {
  const rig = rigOf();
  expect(await rig.module('strangers')).toEqual(succeeded('own'));
  expect(rig.host.logged()).not.toContain('forged');
});

it('calls reach neither other instances, nor files of the machine, nor functions that are no calls', async () => {
  const rig = rigOf();
  const read: string[] = [];
  const { readResource } = rig.host;
  rig.host.readResource = (path) => {
    read.push(path);
    return readResource(path);
  };
  expect(await rig.module('foreign')).toEqual(succeeded('asked'));
  expect(rig.host.instances.get('db_def456')!.runtime_properties).toEqual({});
  expect(rig.host.instances.get('web_abc123')!.version).toBe(1);
  expect(read).toEqual([]);
});

it.each<[string, object, object]>([
  ['no end', [] as unknown as object, { kind: 'failed', isRecoverable: true }],
  ['an end of another kind', { kind: 'stopped', reason: 'lease-lost' }, { kind: 'failed' }],
  [
    'a failure without texts',
    { kind: 'failed', failure: { causes: [{ type: {} }, 7] } },
    { kind: 'failed', failure: { message: '' } },
  ],
  [
    'endless waits',
    { kind: 'deferred', checkAfter: 1e99, untilExecution: '../x' },
    { kind: 'deferred', checkAfter: 3600, untilExecution: null },
  ],
  [
    'a result with odd keys',
    JSON.parse('{"kind":"succeeded","result":{"__proto__":{"a":1}}}') as object,
    { kind: 'succeeded' },
  ],
])('an end that is %s is made into one', async (_what, end, expected) => {
  expect(await rigOf().module('odd', { inputs: { end: end as never } })).toMatchObject(expected);
  expect(({} as { a?: number }).a).toBeUndefined();
});

it('a value that is nested without end does not end the worker', async () => {
  expect((await rigOf().module('deep')).kind).toBe('succeeded');
});

it('floods of lines and calls are taken in their order and within bounds, while others run', async () => {
  const [flooding, calm] = [rigOf(), rigOf()];
  let open = 0;
  let most = 0;
  const { open: opened } = flooding.host;
  flooding.host.open = async () => {
    most = Math.max(most, ++open);
    await new Promise(setImmediate);
    open--;
    return opened();
  };
  const flood = flooding.module('flood');
  expect(await calm.module('fine')).toMatchObject({ kind: 'succeeded' });
  expect(await flood).toEqual(succeeded('done'));
  expect(flooding.host.logged()).toHaveLength(50_000);
  expect(flooding.host.logged().at(-1)).toBe('line 49999');
  expect(await flooding.module('calls')).toEqual(succeeded('web'));
  expect(most).toBeLessThanOrEqual(64);
});

it('an operation that leaves is not run again, one that is resumable is, once', async () => {
  const rig = rigOf();
  expect(await rig.module('exit')).toMatchObject({
    kind: 'failed',
    isRecoverable: false,
    failure: { message: expect.stringMatching(/not resumable: exit .*exit code 3.*last words/s) },
  });
  expect(await rig.module('exitOnce')).toEqual(succeeded('resumed'));
  expect(await rig.module('exitAlways')).toMatchObject({
    kind: 'failed',
    isRecoverable: true,
    failure: { message: expect.stringContaining('lost twice') },
  });
  expect(await rig.module('exitOnce', { isResumed: true })).toEqual(succeeded('resumed'));
  expect(await rig.module('fine', { isResumed: true })).toMatchObject({
    failure: { message: expect.stringMatching(/^Cannot resume - operation not resumable: fine/) },
  });
});

it('too much memory ends the process and nothing else', async () => {
  const rig = rigOf('none', { heapMb: 64 });
  expect(await rig.module('memory')).toMatchObject({
    kind: 'failed',
    failure: { message: expect.stringMatching(/heap out of memory/) },
  });
  expect(await rig.module('fine')).toMatchObject({ kind: 'succeeded' });
});

it('a blocked process is killed when its operation is cancelled; a resumable one in it runs again', async () => {
  const rig = rigOf();
  const other = makeModuleRig('none', '/nowhere');
  other.deps.modules = rig.deps.modules!;
  other.host.installedPlugin = rig.host.installedPlugin;
  const pid = await pidOf(rig);
  const waiting = other.module('patient');
  const cancel = new AbortController();
  const blocking = rig.module('block', {}, cancel.signal);
  await eventually(async () => expect(rig.host.logged()).toContain('blocks'));
  cancel.abort('cancelled');
  expect(await blocking).toEqual({ kind: 'stopped', reason: 'cancelled' });
  expect(await waiting).toEqual(succeeded('ran again'));
  expect(isRunning(pid)).toBe(false);
});

it('programs that it started end with its process', async () => {
  const rig = rigOf();
  const { result: pid } = (await rig.module('helper')) as { result: number };
  expect(isRunning(pid)).toBe(true);
  await rig.deps.modules!.close();
  await eventually(async () => expect(isRunning(pid)).toBe(false));
});

describe.each(MODES.filter((mode) => mode !== 'none' && mode !== 'namespaces'))(
  'with isolation %s',
  (mode) => {
    it('sees no environment of the worker, and cannot change its own code', async () => {
      process.env.BATON_TEST_MARK = 'x';
      const rig = rigOf(mode);
      expect(await rig.module('look')).toEqual(succeeded([]));
      delete process.env.BATON_TEST_MARK;
      expect(await rig.module('write')).toMatchObject({
        kind: 'failed',
        failure: { message: expect.stringMatching(/EROFS|EACCES/) },
      });
    });

    it('does not reach what the process of another tenant has', async () => {
      const rig = rigOf(mode);
      const { result: path } = (await rig.module('hide')) as { result: string };
      expect(await rig.module('read', { inputs: { path } })).toEqual(succeeded('of the first tenant'));
      expect(await rig.module('read', { tenant: 'neighbour', inputs: { path } })).toMatchObject({
        kind: 'failed',
        failure: { message: expect.stringMatching(/ENOENT|EACCES/) },
      });
    });
  },
);
