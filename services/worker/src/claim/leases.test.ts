import type { executionsRpc } from '@baton/contracts';
import { silentLog, systemClock } from '@baton/kernel';
import { sampleLease } from '../testing/sample-lease';
import { createHeldTasks, type HeldTask } from './held-task';
import { startLeases } from './leases';
import { createSlots } from './slots';

function setUp() {
  const run: HeldTask[] = [];
  const slots = createSlots(1);
  const clock = { ...systemClock, monotonic: () => 100_000 };
  const tasks = createHeldTasks();
  const deps = { tasks, slots, clock, log: silentLog, run: (task: HeldTask) => void run.push(task) };
  const start = (given: Partial<executionsRpc.TaskLease>, sinceSentMs = 50) => {
    slots.takeSome(1);
    startLeases(deps, [{ ...sampleLease(), ...given }], { places: 1, tenant: '' }, 100_000 - sinceSentMs);
  };
  return { run, slots, tasks, start };
}

test('a lease whose answer lay unread while the process was paused is not used', () => {
  const { run, slots, tasks, start } = setUp();
  start({}, 20_000);
  expect([run.length, slots.free, tasks.size]).toEqual([0, 1, 0]);
  start({});
  expect([run.length, slots.free, tasks.size]).toEqual([1, 0, 1]);
});

test('an attempt that has run here does not run here again, however late its lease comes again; the next one does', () => {
  const { run, slots, tasks, start } = setUp();
  start({});
  // Two wake-ups for one task: the second answer arrives after the run and the answer to its report.
  tasks.remove(run[0]!);
  slots.give(1);
  start({});
  expect([run.length, slots.free, tasks.size]).toEqual([1, 1, 0]);
  start({ attempt: 2 });
  expect([run.at(-1)?.attempt, slots.free]).toEqual([2, 0]);
  tasks.remove(run[1]!);
  slots.give(1);
  start({ attempt: 1 });
  expect([run.length, slots.free]).toEqual([2, 1]);
});
