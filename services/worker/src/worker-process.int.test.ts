import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { executionsRpc, type OperationAssignment } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import type { PeerTask } from './testing/engine-peer';
import { createWorkerRig, type WorkerRig } from './testing/worker-rig';

/** A worker in its own process, so that it can be killed and paused. */
const LEASE_MS = 1_500;
let rig: WorkerRig;
let child: ChildProcess;
const isRunning = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
const script = (text: string): Partial<OperationAssignment> => ({
  inputs: { script_source: `#!/bin/bash\necho "pid $$"\n${text}` },
});

async function running(task: PeerTask): Promise<number> {
  await rig.wake(task);
  const line = await eventually(
    () =>
      rig.peer.events.find((e) => e.taskId === task.id && e.message.startsWith('<out> pid '))?.message ??
      Promise.reject(new Error('no output yet')),
    { deadlineMs: 20_000 },
  );
  return Number(line.slice('<out> pid '.length));
}

beforeEach(async () => {
  rig = await createWorkerRig(LEASE_MS);
  child = spawn(process.execPath, ['--import', 'tsx', join(__dirname, 'main.ts')], {
    env: { PATH: process.env.PATH ?? '', ...rig.env() },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
});
afterEach(async () => {
  child.kill('SIGKILL');
  await rig.close();
});

it('takes its scripts with it when it is killed; another worker does the work again', async () => {
  const task = rig.peer.addTask(script('sleep 60'));
  const pid = await running(task);
  child.kill('SIGKILL');
  await eventually(() => !isRunning(pid));
  await eventually(() => rig.peer.reap().length === 1);
  task.assignment = { ...task.assignment, mapping: 'probe.nop' };
  await rig.startWorker();
  await eventually(async () => (await rig.wake(task), rig.peer.ended()));
  expect(task.outcomes).toMatchObject([
    { attempt: 2, kind: executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED },
  ]);
}, 40_000);

it('writes nothing after a pause longer than its lease, and works on', async () => {
  const task = rig.peer.addTask(
    script(
      'sleep 1\nctx instance runtime-properties zombie 1\nctx logger info zombie\nctx returns zombie\nsleep 60',
    ),
  );
  const pid = await running(task);
  const stops = Promise.resolve(child.kill('SIGSTOP'));
  await stops;
  await eventually(() => rig.peer.reap().length === 1, { deadlineMs: 3 * LEASE_MS });
  rig.peer.writes.length = 0;
  child.kill('SIGCONT');
  await eventually(() => !isRunning(pid));
  const next = rig.peer.addTask({ mapping: 'probe.nop' });
  await rig.wake(next);
  await eventually(() => next.state === 'succeeded');
  expect([task.outcomes, rig.peer.refused, rig.peer.instances.get('web_1')?.version]).toEqual([[], [], 1]);
  expect(rig.peer.events.map((e) => e.message)).not.toContain('zombie');
}, 40_000);
