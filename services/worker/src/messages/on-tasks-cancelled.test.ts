import { silentLog, systemClock } from '@baton/kernel';
import { createHeldTasks, type HeldTask } from '../held-task';
import { startLeases } from '../leases';
import { createSlots } from '../slots';
import { sampleLease } from '../testing/sample-lease';
import { onTasksCancelled } from './on-tasks-cancelled';

/** Whether a worker that holds attempt 2 of a task stops it for the message. */
function isStoppedBy(attempts: number[] | undefined): boolean {
  const tasks = createHeldTasks();
  const run: HeldTask[] = [];
  const slots = createSlots(1);
  slots.takeSome(1);
  startLeases(
    { tasks, slots, clock: systemClock, log: silentLog, run: (task) => void run.push(task) },
    [{ ...sampleLease(), attempt: 2 }],
    { places: 1, tenant: '' },
    systemClock.monotonic(),
  );
  const payload = { executionId: 'e', taskIds: ['other', 'a'], attempts };
  onTasksCancelled({ tasks })({ payload } as never);
  return run[0]!.control.signal.aborted;
}

test('the run that is meant is stopped, not one that a resume has begun since', () => {
  expect(isStoppedBy([2, 2])).toBe(true);
  expect(isStoppedBy([2, 1])).toBe(false);
});

test('a message of an older release names no run', () => {
  expect(isStoppedBy(undefined)).toBe(true);
});
