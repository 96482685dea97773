import type { executionsRpc } from '@baton/contracts';
import { silentLog, systemClock } from '@baton/kernel';
import { createHeldTasks, type HeldTask } from './held-task';
import { startLeases } from './leases';
import { createSlots } from './slots';

const assignment = {
  executionId: 'e',
  tenant: 't',
  deploymentId: 'd',
  deploymentDisplayName: 'd',
  blueprintId: 'b',
  workflowId: 'install',
  workflowParameters: {},
  createdBy: 'admin',
  isDryRun: false,
  operation: 'create',
  mapping: 'probe.op',
  plugin: { name: 'probe', packageName: null, packageVersion: null, source: null, properties: null },
  executor: 'central_deployment_agent',
  self: null,
  related: null,
  hostInstanceId: null,
  inputs: {},
  hasFunctions: false,
  retryNumber: 0,
  maxRetries: 0,
  timeoutMs: null,
  isTimeoutRecoverable: false,
  isResumed: false,
  executionToken: 'x',
  states: [],
};
const lease = {
  taskId: 'a',
  executionId: 'e',
  attempt: 1,
  leaseMs: 15_000,
  assignmentJson: JSON.stringify(assignment),
};

function setUp() {
  const run: HeldTask[] = [];
  const slots = createSlots(1);
  const clock = { ...systemClock, monotonic: () => 100_000 };
  const tasks = createHeldTasks();
  const deps = { tasks, slots, clock, log: silentLog, run: (task: HeldTask) => void run.push(task) };
  const start = (given: Partial<executionsRpc.TaskLease>, sinceSentMs = 50) => {
    slots.takeSome(1);
    startLeases(deps, [{ ...lease, ...given } as executionsRpc.TaskLease], 1, 100_000 - sinceSentMs);
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

test('an attempt that ended here without its lease does not run here again; the next one does', () => {
  const { run, slots, tasks, start } = setUp();
  start({});
  tasks.abandon(run[0]!);
  slots.give(1);
  start({});
  expect([run.length, slots.free]).toEqual([1, 1]);
  start({ attempt: 2 });
  expect([run.at(-1)?.attempt, slots.free]).toEqual([2, 0]);
});
