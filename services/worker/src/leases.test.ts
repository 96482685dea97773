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

function start(sinceSentMs: number) {
  const run: HeldTask[] = [];
  const slots = createSlots(1);
  slots.takeSome(1);
  const clock = { ...systemClock, monotonic: () => 100_000 };
  const deps = {
    tasks: createHeldTasks(),
    slots,
    clock,
    log: silentLog,
    run: (task: HeldTask) => void run.push(task),
  };
  startLeases(deps, [lease as executionsRpc.TaskLease], 1, 100_000 - sinceSentMs);
  return { run, free: slots.free, held: deps.tasks.size };
}

test('a lease whose answer lay unread while the process was paused is not used', () => {
  expect(start(50)).toMatchObject({ run: [{ taskId: 'a' }], free: 0, held: 1 });
  expect(start(20_000)).toEqual({ run: [], free: 1, held: 0 });
});
