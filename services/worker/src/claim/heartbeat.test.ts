import { silentLog } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { createHeartbeat } from './heartbeat';
import { createHeldTasks, type HeldTask, isOwned } from './held-task';

const LEASE_MS = 15_000;

function rig() {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const tasks = createHeldTasks();
  const lost: string[] = [];
  let answer: {
    lost: string[];
    kill: string[];
    proofs?: Record<string, string>;
    weights?: Record<string, number>;
  } = { lost: [], kill: [] };
  let travelMs = 0;
  const executions = {
    heartbeat: async () => {
      nowMs += travelMs;
      return { proofs: {}, weights: {}, ...answer };
    },
  };
  const heard: object[] = [];
  const heartbeat = createHeartbeat({
    executions,
    tasks,
    clock,
    log: silentLog,
    onLost: (task) => lost.push(task.taskId),
    onWeights: (given) => heard.push(given),
  });
  const hold = (taskId: string): HeldTask => {
    const task = {
      taskId,
      attempt: 1,
      leaseMs: LEASE_MS,
      leaseUntil: nowMs + LEASE_MS,
      control: new AbortController(),
      proof: 'first',
      phase: 'running',
    } as HeldTask;
    tasks.add(task);
    return task;
  };
  return {
    clock,
    tasks,
    heartbeat,
    heard,
    hold,
    lost,
    pass: (ms: number) => {
      nowMs += ms;
    },
    answers: (next: Partial<typeof answer>, takesMs = 0) => {
      answer = { lost: [], kill: [], ...next };
      travelMs = takesMs;
    },
  };
}

it('a renewed lease counts from when the heartbeat was sent, not from its answer', async () => {
  const r = rig();
  const task = r.hold('a');
  r.pass(5_000);
  r.answers({}, 4_000);
  await r.heartbeat.beat();
  expect(task.leaseUntil).toBe(5_000 + LEASE_MS);
});

it('an operation is killed a margin before its lease ends, one that has ended is left to the engine', () => {
  const r = rig();
  const [task, ended] = [r.hold('a'), r.hold('b')];
  ended.phase = 'reporting';
  r.pass(LEASE_MS * 0.79);
  r.heartbeat.guard();
  expect([task.control.signal.aborted, isOwned(task, r.clock)]).toEqual([false, true]);
  r.pass(LEASE_MS * 0.02);
  r.heartbeat.guard();
  expect([task.control.signal.reason, ended.control.signal.aborted]).toEqual(['lease-lost', false]);
});

it('what is lost stays lost although the clock says otherwise; what is cancelled is killed', async () => {
  const r = rig();
  const [lost, killed, kept] = [r.hold('a'), r.hold('b'), r.hold('c')];
  r.answers({ lost: ['a'], kill: ['b'] });
  await r.heartbeat.beat();
  expect([lost, killed, kept].map((t) => t.control.signal.reason)).toEqual([
    'lease-lost',
    'cancelled',
    undefined,
  ]);
  expect([r.lost, isOwned(lost, r.clock), isOwned(killed, r.clock)]).toEqual([['a'], false, true]);
});

it('an answer says nothing about an attempt that came after it was asked', async () => {
  const r = rig();
  const old = r.hold('a');
  r.answers({ lost: ['a'] });
  const beating = r.heartbeat.beat();
  r.tasks.remove(old);
  const next = r.hold('a');
  await beating;
  expect(next.control.signal.aborted).toBe(false);
});

it('weights that administrators have set come with each answer', async () => {
  const r = rig();
  r.answers({ weights: { busy: 3 } });
  await r.heartbeat.beat();
  r.answers({});
  await r.heartbeat.beat();
  expect(r.heard).toEqual([{ busy: 3 }, {}]);
});

it('who asks gets a round at once, and one more when it asked while another was under way', async () => {
  const r = rig();
  const task = r.hold('a');
  let rounds = 0;
  const release: (() => void)[] = [];
  const heartbeat = createHeartbeat({
    executions: {
      heartbeat: async () => {
        rounds++;
        await new Promise<void>((resolve) => release.push(resolve));
        return { proofs: {}, weights: {}, lost: [], kill: rounds === 2 ? ['a'] : [] };
      },
    },
    tasks: r.tasks,
    clock: r.clock,
    log: silentLog,
    onLost: () => undefined,
    onWeights: () => undefined,
  });
  heartbeat.ask();
  heartbeat.ask();
  heartbeat.ask();
  expect(rounds).toBe(1);
  release.shift()!();
  await eventually(() => expect(rounds).toBe(2));
  release.shift()!();
  await eventually(() => expect(task.control.signal.reason).toBe('cancelled'));
  expect(rounds).toBe(2);
});
