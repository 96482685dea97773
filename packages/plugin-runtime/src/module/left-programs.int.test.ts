// Programs that a plugin started in process groups of their own, as `exec` of the SDK does, end with the plugin's process.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { isRunning } from '../testing/memory-host';
import { MODES, makeModuleRig, moduleFolder } from '../testing/module-rig';

const OPERATIONS = `
  own: () => process.pid,
  // A program in its own session, and one that this program has started.
  tree: async (ctx) => {
    const child = require('node:child_process').spawn(
      'sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1001'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    const below = await new Promise((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
    child.unref();
    return [child.pid, below];
  },
  die: () => process.kill(process.pid, 'SIGKILL'),
  block: async (ctx) => { ctx.logger.info('blocks'); for (;;); },
`;
const MODES_HERE = MODES.filter((mode) => mode === 'none' || mode === 'uid');

describe.each(MODES_HERE)('isolation %s, which has no pid namespace', (mode) => {
  const started = async () => {
    const rig = makeModuleRig(mode, moduleFolder(OPERATIONS), { graceMs: 200 });
    const { result } = (await rig.module('tree')) as { result: number[] };
    expect(result.map(isRunning)).toEqual([true, true]);
    return { rig, pids: result };
  };
  const allEnded = (pids: readonly number[]) =>
    eventually(() => expect(pids.map(isRunning)).toEqual(pids.map(() => false)));

  it('when it is killed, or kills itself', async () => {
    const { rig, pids } = await started();
    expect(await rig.module('die')).toMatchObject({ kind: 'failed' });
    await allEnded(pids);
  });

  it('when the worker kills it, because an operation does not stop', async () => {
    const { rig, pids } = await started();
    const stop = new AbortController();
    const end = rig.module('block', {}, stop.signal);
    await eventually(() => expect(rig.host.logged()).toContain('blocks'));
    stop.abort('cancelled');
    expect(await end).toMatchObject({ kind: 'stopped' });
    await allEnded(pids);
  });

  it('and programs of the process of another tenant go on', async () => {
    const { rig, pids } = await started();
    const other = (await rig.module('tree', { tenant: 'other' })) as { result: number[] };
    await rig.module('die', { tenant: 'other' });
    await allEnded(other.result);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await rig.deps.modules?.close();
    await allEnded(pids);
  });
});

it('the guard of a worker that dies ends marked processes in any group', async () => {
  const marked = spawn('/bin/sh', ['-c', 'sleep 60 & wait'], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, PLUGIN_PROCESS_MARK: 'mark-1' },
  });
  const other = spawn('/bin/sleep', ['60'], { env: { PLUGIN_PROCESS_MARK: 'mark-12' }, stdio: 'ignore' });
  const guardModule = join(__dirname, '../script/orphan-guard.ts');
  const code = `const { startOrphanGuard } = require(${JSON.stringify(guardModule)});
const guard = startOrphanGuard(); guard.addMark('mark-12'); guard.addMark('mark-1'); guard.removeMark('mark-12');
console.log('ready'); setInterval(() => undefined, 1000);`;
  const owner = spawn(process.execPath, ['--import', 'tsx', '-e', code], {
    cwd: join(__dirname, '../../../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => owner.stdout.once('data', resolve));
  expect(isRunning(marked.pid!)).toBe(true);
  owner.kill('SIGKILL');
  await eventually(() => expect(isRunning(marked.pid!)).toBe(false));
  expect(isRunning(other.pid!)).toBe(true);
  other.kill('SIGKILL');
});
