import { silentLog, systemClock } from '@baton/kernel';
import { createHeldTasks, type HeldTask } from '../claim/held-task';
import { startLeases } from '../claim/leases';
import { createSlots } from '../claim/slots';
import { sampleLease } from '../testing/sample-lease';
import { onTasksCancelled } from './on-tasks-cancelled';

/** Returns whether a worker that holds attempt 2 of a task calls the engine because of the message. */
function isAskedBy(attempts: number[] | undefined): boolean {
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
  let asked = 0;
  onTasksCancelled({ tasks, ask: () => void asked++ })({ payload } as never);
  // The message itself stops nothing.
  expect(run[0]!.control.signal.aborted).toBe(false);
  return asked === 1;
}

test('it asks for the run that is meant, not for one that a resume has begun since', () => {
  expect(isAskedBy([2, 2])).toBe(true);
  expect(isAskedBy([2, 1])).toBe(false);
});

test('a message of an older release names no run', () => {
  expect(isAskedBy(undefined)).toBe(true);
});
