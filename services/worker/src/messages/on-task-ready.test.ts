import { buildMessage, type executionsRpc, firstTaskReady, taskReady } from '@baton/contracts';
import { isoInstant, newId, silentLog, systemClock } from '@baton/kernel';
import { createHeldTasks, type HeldTask } from '../claim/held-task';
import { createSlots } from '../claim/slots';
import { onTaskReady } from './on-task-ready';

/** Returns the tasks that the wake-up of a task claims while the task is held in this phase. */
async function claimsWhile(phase: HeldTask['phase']): Promise<string[]> {
  const [taskId, executionId] = [newId(), newId()];
  const tasks = createHeldTasks();
  tasks.add({ taskId, executionId, attempt: 1, phase } as HeldTask);
  const claimed: string[] = [];
  const claim = async (_execution: string, task: string): Promise<executionsRpc.TaskLease[]> => {
    claimed.push(task);
    return [];
  };
  const handle = onTaskReady({
    tasks,
    slots: createSlots(1),
    clock: systemClock,
    log: silentLog,
    run: () => undefined,
    executions: { claim },
    publish: async () => undefined,
    isDraining: () => false,
    mostWaiting: 1,
  });
  const about = { tenant: 't', key: executionId, time: isoInstant(systemClock.now()) };
  await handle(buildMessage(taskReady, about, { executionId, taskId }), new AbortController().signal);
  return claimed.map((one) => (one === taskId ? 'itself' : one));
}

it('a wake-up of an operation that runs here says nothing new', async () => {
  expect(await claimsWhile('running')).toEqual([]);
});

it('one that is being reported may be ready again before the answer is here: it is claimed', async () => {
  expect(await claimsWhile('reporting')).toEqual(['itself']);
});

it('first wake-ups of a tenant that is owed nothing wait up to their bound, others go back to the queue at once', async () => {
  const slots = createSlots(4, { reserve: 1, weightOf: () => 1 });
  slots.takeSome(3, 't');
  const [claimed, published] = [[] as string[], [] as string[]];
  const handle = onTaskReady({
    tasks: createHeldTasks(),
    slots,
    clock: systemClock,
    log: silentLog,
    run: () => undefined,
    executions: {
      claim: async (_execution, task) => {
        claimed.push(task);
        return [];
      },
    },
    publish: async (envelopes) => void published.push(...envelopes.map(({ causationId }) => causationId!)),
    isDraining: () => false,
    mostWaiting: 1,
  });
  const first = () => {
    const payload = { executionId: newId(), taskId: newId() };
    const about = { tenant: 't', key: payload.executionId, time: isoInstant(systemClock.now()) };
    return buildMessage(firstTaskReady, about, payload);
  };
  const [one, two, three] = [first(), first(), first()];
  const { signal } = new AbortController();
  const waits = handle(one, signal);
  await handle(two, signal);
  expect(published).toEqual([two.id]);
  slots.give(1, 't');
  await waits;
  expect(claimed).toEqual([one.payload.taskId]);
  // One of the waiting wake-ups is done, and the claimed task has released its slot.
  await handle(three, signal);
  expect(claimed).toEqual([one.payload.taskId, three.payload.taskId]);
});
