import { existsSync, readFileSync } from 'node:fs';
import { executionsRpc, type OperationAssignment } from '@baton/contracts';
import { AppError, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { createWorkerRig, type WorkerRig } from './testing/worker-rig';

const { OutcomeKind } = executionsRpc;
const nop: Partial<OperationAssignment> = { mapping: 'probe.nop' };
const bash = (text: string, more: Partial<OperationAssignment> = {}): Partial<OperationAssignment> => ({
  ...more,
  inputs: { script_source: `#!/bin/bash\n${text}` },
});
const isRunning = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

let rig: WorkerRig;
afterEach(() => rig.close());
const texts = (): string[] => rig.peer.events.map((e) => e.message);
const done = () => eventually(() => rig.peer.ended(), { deadlineMs: 15_000 });

it('carries out chains and fans on several workers, each operation once', async () => {
  rig = await createWorkerRig();
  await Promise.all([rig.startWorker(), rig.startWorker()]);
  const all = [];
  for (let e = 0; e < 10; e++) {
    const first = rig.peer.addTask(nop);
    const { executionId } = first;
    const fan = Array.from({ length: 10 }, () => rig.peer.addTask(nop, { executionId, after: [first.id] }));
    let last = rig.peer.addTask(nop, { executionId, after: fan.map((t) => t.id) });
    for (let i = 0; i < 10; i++) last = rig.peer.addTask(nop, { executionId, after: [last.id] });
    all.push(first);
  }
  await Promise.all(all.map((task) => rig.wake(task)));
  await done();
  expect(rig.peer.tasks.size).toBe(220);
  expect([...rig.peer.tasks.values()].every((t) => t.state === 'succeeded' && t.outcomes.length === 1)).toBe(
    true,
  );
  expect(rig.peer.refused).toEqual([]);
});

it('tells again what was not taken, and goes on with what was told beside it', async () => {
  rig = await createWorkerRig();
  const first = [1, 2, 3].map(() => rig.peer.addTask(nop));
  for (const { id, executionId } of first) rig.peer.addTask(nop, { executionId, after: [id] });
  const left: string[] = [];
  rig.peer.leaves = (executionId) => {
    const isLeft = executionId === first[1]!.executionId && left.length < 3;
    if (isLeft) left.push(executionId);
    return isLeft;
  };
  await rig.startWorker({ BATON_WORKER_SLOTS: '3' });
  await Promise.all(first.map((task) => rig.wake(task)));
  await done();
  expect(left).toHaveLength(3);
  expect([...rig.peer.tasks.values()].map((task) => task.outcomes.length)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(rig.peer.refused).toEqual([]);
});

it('writes runtime properties, then log lines, then the outcome; repeats what was not answered', async () => {
  rig = await createWorkerRig();
  const fails: Record<string, number> = { finishTasks: 2, appendEvents: 2 };
  rig.peer.before = (method) => {
    const left = fails[method] ?? 0;
    fails[method] = left - 1;
    if (left > 0) throw new AppError('internal_server_error', 'not now');
  };
  await rig.startWorker();
  const task = rig.peer.addTask({
    mapping: 'probe.op',
    inputs: { log: 'hello', set: { a: { b: 1 } }, returns: { ok: true } },
  });
  await rig.wake(task);
  await done();
  expect(rig.peer.writes).toEqual(['rp', 'events', `outcome ${OutcomeKind.OUTCOME_KIND_SUCCEEDED}`]);
  expect(rig.peer.instances.get('web_1')).toEqual({ version: 2, runtime_properties: { a: { b: 1 } } });
  expect(rig.peer.events).toMatchObject([
    { kind: 'log', level: 'info', message: 'hello', taskId: task.id, logger: `ctx.${task.id}` },
  ]);
  expect(task.outcomes).toMatchObject([{ attempt: 1, resultJson: '{"ok":true}' }]);
});

it('runs scripts from the blueprint, from imported ones and from the folder of the deployment', async () => {
  rig = await createWorkerRig();
  await rig.startWorker();
  Object.assign(rig.peer.files, {
    'bp/scripts/a.sh': '#!/bin/bash\necho from blueprint',
    'imported/b.sh': '#!/bin/bash\necho from import',
  });
  const first = rig.peer.addTask({ inputs: { script_path: 'scripts/a.sh' } });
  const { executionId } = first;
  const own =
    'd=$(ctx local-deployment-workdir); mkdir -p $d/scripts; echo "echo from deployment" > $d/scripts/a.sh';
  const next = [
    { inputs: { script_path: 'ns--b.sh' } },
    bash(own),
    { inputs: { script_path: 'scripts/a.sh' } },
    { inputs: { script_path: 'scripts/none.sh' } },
  ];
  let before = first;
  for (const assignment of next) before = rig.peer.addTask(assignment, { executionId, after: [before.id] });
  await rig.wake(first);
  await done();
  expect(texts().filter((t) => t.startsWith('<out>'))).toEqual([
    '<out> from blueprint',
    '<out> from import',
    '<out> from deployment',
  ]);
  expect(before.outcomes).toMatchObject([
    {
      kind: OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
      errorJson: expect.stringContaining('Resource not found: scripts/none.sh'),
    },
  ]);
});

it('hides secrets of the inputs in log lines, results and errors', async () => {
  rig = await createWorkerRig();
  rig.peer.secrets = { key: 'S3cr3t-Value' };
  rig.peer.evaluated = {
    script_source:
      '#!/bin/bash\necho "key $key" $(echo -n "$key" | base64); echo "$url"; ctx returns "got $key"; test -z "$fail" || { echo "bad $key"; exit 1; }',
    key: 'S3cr3t-Value',
    url: 'http://u:S3cr3t-Value@host',
  };
  await rig.startWorker();
  const inputs = {
    script_source: 'x',
    key: { get_secret: 'key' },
    url: { concat: ['http://u:', { get_secret: 'key' }, '@host'] },
  };
  const good = rig.peer.addTask({ inputs, hasFunctions: true });
  await rig.wake(good);
  await done();
  Object.assign(rig.peer.evaluated, { fail: 'yes' });
  const bad = rig.peer.addTask({ inputs, hasFunctions: true });
  await rig.wake(bad);
  await done();
  const told = JSON.stringify([rig.peer.events, good.outcomes, bad.outcomes]);
  expect(texts()).toEqual(
    expect.arrayContaining(['<out> key ******** ********', '<out> http://u:********@host']),
  );
  expect(good.outcomes[0]?.resultJson).toBe('"got ********"');
  expect(bad.outcomes[0]?.errorJson).toContain('bad ********');
  expect(told).not.toContain('S3cr3t');
});

it('kills what is cancelled and says so', async () => {
  rig = await createWorkerRig(900);
  await rig.startWorker();
  const tasks = [
    rig.peer.addTask(bash('echo "pid $$"; sleep 60')),
    rig.peer.addTask({ mapping: 'probe.wait' }),
    rig.peer.addTask(bash('echo "pid $$"; sleep 60')),
  ];
  await Promise.all(tasks.map((task) => rig.wake(task)));
  await eventually(() => texts().filter((t) => t.startsWith('<out> pid')).length === 2);
  await rig.cancel(tasks[0]!);
  for (const task of tasks.slice(1)) task.isCancelled = true;
  await eventually(() => rig.peer.ended(), { deadlineMs: 12_000 });
  expect(tasks.map((t) => t.outcomes.map((o) => o.kind))).toEqual(
    [1, 1, 1].map(() => [OutcomeKind.OUTCOME_KIND_CANCELLED]),
  );
  const pids = texts().flatMap((t) => (t.startsWith('<out> pid ') ? [Number(t.slice(10))] : []));
  expect(pids.filter(isRunning)).toEqual([]);
}, 20_000);

it('a message of a cancel is asked about at once: it kills what the engine has cancelled, and nothing else', async () => {
  // The regular heartbeats come only after the end of this test.
  rig = await createWorkerRig(90_000);
  await rig.startWorker();
  const tasks = [
    rig.peer.addTask(bash('echo "pid $$"; sleep 60')),
    rig.peer.addTask(bash('echo "pid $$"; sleep 60')),
  ];
  const [forged, cancelled] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
  await Promise.all(tasks.map((task) => rig.wake(task)));
  await eventually(() => texts().filter((t) => t.startsWith('<out> pid')).length === 2);
  await rig.tellCancel(forged);
  await rig.cancel(cancelled);
  await eventually(() => cancelled.outcomes.length === 1, { deadlineMs: 12_000 });
  expect([forged.outcomes, cancelled.outcomes.map((o) => o.kind)]).toEqual([
    [],
    [OutcomeKind.OUTCOME_KIND_CANCELLED],
  ]);
  await rig.cancel(forged);
  await eventually(() => rig.peer.ended(), { deadlineMs: 12_000 });
}, 40_000);

it('kills its operations when it cannot renew in time, reports nothing, and takes the next attempt', async () => {
  rig = await createWorkerRig(1_500);
  await rig.startWorker();
  const task = rig.peer.addTask(bash('echo "pid $$"; ctx instance runtime-properties a 1; sleep 60'));
  await rig.wake(task);
  await eventually(() => texts().some((t) => t.startsWith('<out> pid')));
  const pid = Number(
    texts()
      .find((t) => t.startsWith('<out> pid'))
      ?.slice(10),
  );
  rig.peer.before = (method) => {
    if (method === 'heartbeat') throw new AppError('internal_server_error', 'cut off');
  };
  await eventually(() => !isRunning(pid));
  expect(task.leaseUntil).toBeGreaterThan(systemClock.monotonic());
  await eventually(() => rig.peer.reap().length === 1);
  task.assignment = { ...task.assignment, mapping: 'probe.nop' };
  rig.peer.before = () => undefined;
  await eventually(() => rig.wake(task).then(() => rig.peer.ended()));
  expect(task.outcomes).toMatchObject([{ attempt: 2, kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED }]);
  expect([rig.peer.refused, rig.peer.writes.includes('rp')]).toEqual([[], false]);
}, 15_000);

it('stops what it has lost without a word and takes other work', async () => {
  rig = await createWorkerRig(900);
  await rig.startWorker({ BATON_WORKER_SLOTS: '1' });
  const task = rig.peer.addTask({ mapping: 'probe.wait' });
  await rig.wake(task);
  await eventually(() => task.state === 'leased');
  Object.assign(task, { attempt: 2, holder: 'another worker' });
  const other = rig.peer.addTask(nop);
  await rig.wake(other);
  await eventually(() => other.state === 'succeeded');
  expect([task.outcomes, rig.peer.refused]).toEqual([[], []]);
});

it('lets operations end when it stops, and kills and gives back those that take too long', async () => {
  rig = await createWorkerRig();
  const worker = await rig.startWorker({ BATON_WORKER_STOP_AFTER: '1s' });
  const short = rig.peer.addTask(bash('sleep 0.5; echo over'));
  const after = rig.peer.addTask(nop, { executionId: short.executionId, after: [short.id] });
  const long = rig.peer.addTask(bash('sleep 60'));
  await Promise.all([rig.wake(short), rig.wake(long)]);
  await eventually(() => texts().filter((t) => t.startsWith('Process created')).length === 2);
  await worker.stop();
  expect(short.outcomes).toMatchObject([{ kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED }]);
  expect(long.outcomes).toMatchObject([
    {
      kind: OutcomeKind.OUTCOME_KIND_LEFT,
      errorJson: expect.stringContaining('WorkerStopped'),
    },
  ]);
  expect(after.state).toBe('ready');
}, 15_000);

it('leaves wake-ups to others while it is full', async () => {
  rig = await createWorkerRig();
  await rig.startWorker({ BATON_WORKER_SLOTS: '1' });
  const blocking = rig.peer.addTask({ mapping: 'probe.wait' });
  await rig.wake(blocking);
  await eventually(() => blocking.state === 'leased');
  const task = rig.peer.addTask(nop);
  await rig.wake(task);
  await rig.startWorker({ BATON_WORKER_SLOTS: '1' });
  await eventually(() => task.state === 'succeeded', { deadlineMs: 8_000 });
  await rig.cancel(blocking);
  await done();
}, 20_000);

it('makes a script wait with its output while log lines cannot be stored, and loses none', async () => {
  rig = await createWorkerRig();
  let isDown = true;
  rig.peer.before = (method) => {
    if (method === 'appendEvents' && isDown) throw new AppError('service_unavailable_error', 'down');
  };
  await rig.startWorker({ BATON_WORKER_LOG_BUFFER: '65536' });
  const task = rig.peer.addTask(
    bash(
      'for i in $(seq 1 3000); do echo "$i $(printf %0100d 0)"; done; touch $(ctx local-deployment-workdir)/printed',
    ),
  );
  await rig.wake(task);
  await eventually(() => rig.peer.events.length > 0);
  const counted = rig.peer.events.length;
  expect(counted).toBeLessThan(1_000);
  isDown = false;
  await eventually(() => rig.peer.ended(), { deadlineMs: 15_000 });
  const numbers = texts()
    .filter((t) => t.startsWith('<out>'))
    .map((t) => Number(t.split(' ')[1]));
  expect(numbers).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
}, 25_000);

it('gives the place of an operation that waits to others, after its runtime properties are stored', async () => {
  rig = await createWorkerRig();
  await rig.startWorker({ BATON_WORKER_SLOTS: '1' });
  const untilExecution = '0198d7a0-0000-7000-8000-000000000001';
  const waiting = rig.peer.addTask({ mapping: 'probe.defer', inputs: { untilExecution, checkAfter: 5 } });
  await rig.wake(waiting);
  await eventually(() => waiting.outcomes.length === 1);
  expect(waiting.outcomes).toMatchObject([
    { attempt: 1, kind: OutcomeKind.OUTCOME_KIND_DEFERRED, untilExecution, retryAfter: 5 },
  ]);
  expect(rig.peer.writes).toEqual(['rp', `outcome ${OutcomeKind.OUTCOME_KIND_DEFERRED}`]);
  const other = rig.peer.addTask(nop);
  await rig.wake(other);
  await eventually(() => other.state === 'succeeded');
});

it('tells the beginning of a line that no call could carry, and what comes after it', async () => {
  rig = await createWorkerRig();
  await rig.startWorker();
  const task = rig.peer.addTask({ mapping: 'probe.say', inputs: { text: 'x', times: 70_000_000 } });
  await rig.wake(task);
  await done();
  expect(texts()).toEqual([
    expect.stringMatching(/^x{65536} \.\.\. \(70000000 characters\)$/),
    '{"after":1}',
  ]);
});
