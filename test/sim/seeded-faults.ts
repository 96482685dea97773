import { cancelFaults } from './cancel-faults';
import { repairFaults } from './repair-faults';
import { scheduleFaults } from './schedule-faults';

/** Replaces `find`, which occurs once in `file`, by `replace`. */
export interface SeededEdit {
  file: string;
  find: string;
  replace: string;
}

/** A bug that the simulation must detect. */
export interface SeededFault extends SeededEdit {
  name: string;
  /** A second edit that disables another defence, when one edit alone has no effect. */
  also?: SeededEdit;
  /** The kind of worlds to play the fault on; default: service. */
  of?: 'schedules';
}

const executions = (file: string) => `services/executions/src/${file}.ts`;

/** Played one at a time (`npm run sim -- --power`). */
export const seededFaults: readonly SeededFault[] = [
  ...repairFaults,
  ...cancelFaults,
  ...scheduleFaults.map((fault) => ({ ...fault, of: 'schedules' as const })),
  {
    name: 'results are taken whoever sends them, of any attempt (no fence)',
    file: executions('engine/commands/finish-tasks'),
    find: `if (idx === undefined || loaded.holders.get(idx) !== workerId) return null;
  const run = { idx, attempt: outcome.attempt };`,
    replace: `if (idx === undefined) return null;
  const run = { idx, attempt: loaded.graph.nodes[idx]!.attempt };`,
  },
  {
    name: 'a claim is answered with an operation that another worker holds',
    file: executions('engine/steps/advance-graph'),
    find: 'preferred !== null && loaded.holders.get(preferred) === workerId;',
    replace: 'preferred !== null && loaded.holders.has(preferred);',
  },
  {
    name: 'claims that share a step are answered with the operations of all of them',
    file: executions('engine/commands/claim-task'),
    find: 'const claimed = step.claimed[place]!;',
    replace: 'const claimed = step.claimed.flat();',
  },
  {
    name: 'leases that ran out are never taken back',
    file: executions('engine/commands/reap-leases'),
    find: 'if (lost.length === 0) return null;',
    replace: 'return null;',
  },
  {
    name: 'operations that nobody claimed are not announced again',
    file: executions('engine/commands/announce-unclaimed'),
    find: 'if (tasks.length === 0) return 0;',
    replace: 'return 0;',
  },
  {
    name: 'timers that are due are forgotten',
    file: executions('engine/commands/wake-executions'),
    find: 'const due = [...loaded.timers].filter(([, at]) => at <= execution.now_ms);',
    replace: 'const due = [...loaded.timers].filter(() => false);',
  },
  {
    name: 'executions whose driver died are not driven again',
    file: executions('engine/commands/wake-executions'),
    find: 'else deps.wake.drive(id);',
    replace: '',
  },
  {
    name: 'states are noted as delivered before deployments has answered (ack before the effect)',
    file: executions('engine/commands/deliver-states'),
    find: 'if (executions.length > 0) await deps.deployments.applyStates(executions);',
    replace: 'if (executions.length > 0) deps.deployments.applyStates(executions).catch(() => undefined);',
  },
  {
    name: 'stored states are deleted before they are delivered',
    file: executions('engine/commands/deliver-states'),
    find: 'await deps.deployments.applyStates(decidedStates(execution, states));',
    replace: 'deps.deployments.applyStates(decidedStates(execution, states)).catch(() => undefined);',
  },
  {
    name: 'the end is told before the last states',
    file: executions('engine/commands/end-execution'),
    find: '  await deliverDecided(deps, execution);\n',
    replace: '',
  },
  {
    name: 'the end is not told to deployments',
    file: executions('engine/commands/end-execution'),
    find: "if (!execution.deployment_id || execution.is_dry_run) return '';",
    replace: "return '';",
  },
  {
    name: 'operations that nobody claimed stay sent after the end',
    file: 'packages/task-graph/src/run.ts',
    find: 'if (step.graph.active === 0) return;',
    replace: 'return;',
  },
  {
    name: 'the message of the end is not written',
    file: executions('engine/commands/end-execution'),
    find: 'outbox: isEndOwed(execution) ? [finishedMessage(execution, outcome.status)] : [],',
    replace: 'outbox: [],',
  },
  {
    name: 'the terminal event is not written',
    file: executions('engine/commands/end-execution'),
    find: 'events: [workflowEvent(execution, EVENT_OF[outcome.status], outcome.error)],',
    replace: 'events: [],',
  },
  {
    name: 'a cancel leaves the version of what waits to end',
    file: executions('engine/commands/cancel-execution'),
    find: '{ ...changes, version: execution.version + 1 }',
    replace: 'changes',
  },
  {
    name: 'what ends does not say that workers still run of it',
    file: executions('engine/steps/run-step'),
    find: 'if (loaded.holders.size > 0) changes.has_left_runs = true;',
    replace: '',
  },
  {
    name: 'what a cancel has left is not stopped after its grace',
    file: executions('engine/commands/wake-executions'),
    find: 'isInGrace(graph) && graph.flags.grace!.until <= execution.now_ms',
    replace: 'isInGrace(graph) && graph.flags.grace!.until <= 0',
  },
  {
    name: 'a step that was refused counts as written',
    file: executions('engine/steps/run-step'),
    find: 'if (!row) return dropped(decided);\n  decided.commit(row);',
    replace: 'if (row) decided.commit(row);',
  },
  {
    name: 'a step that failed leaves its graph in memory',
    file: executions('engine/steps/run-step'),
    find: '      deps.memory.forget(executionId);\n      throw error;',
    replace: '      throw error;',
  },
  {
    name: 'memory is used whatever its version is',
    file: executions('engine/steps/graph-memory'),
    find: 'cached?.graphId === execution.graph_id && cached.version === execution.version',
    replace: 'cached?.graphId === execution.graph_id',
  },
  {
    name: 'steps of an execution are decided beside each other',
    file: executions('executions/turns'),
    find: 'const mine = before.then(work, work);',
    replace: 'const mine = work();',
  },
  {
    name: 'an answer that belongs to another step of the batch',
    file: executions('engine/steps/step-writer'),
    find: 'if (row) resolve(row);',
    replace: 'if (row) resolve(rows[0]!);',
  },
  {
    name: 'what is queued begins whatever is at work on its deployment',
    file: executions('executions/commands/dequeue-executions'),
    find: 'if (!(await isAdmitted(tx, candidate))) return false;',
    replace: '',
  },
  {
    name: 'the queue does not look at the limit of the manager',
    file: executions('executions/commands/dequeue-executions'),
    find: 'if ((await countAtWork(tx)) >= deps.queue.maxConcurrent()) return false;',
    replace: '',
  },
  {
    name: 'two replicas take from the queue at once',
    file: executions('executions/commands/dequeue-executions'),
    find: '  await lockDequeue(tx);\n',
    replace: '',
  },
  {
    name: 'what is queued is started a second time',
    file: executions('executions/commands/dequeue-executions'),
    find: "if (queued?.status !== 'queued') return false;",
    replace: 'if (!queued) return false;',
  },
  {
    name: 'the queue is looked at by nobody when groups wait',
    file: executions('executions/commands/dequeue-executions'),
    find: 'return waiting.groups ? started + (await dequeueGroups(deps)) : started;',
    replace: 'return started;',
  },
  {
    name: 'groups do not look at the limit of the manager',
    file: executions('groups/commands/start-group-members'),
    find: 'const room = deps.queue.maxConcurrent() - (await countAtWork(tx));',
    replace: 'const room = 1_000;',
  },
  {
    name: 'members of a group begin without its lock',
    file: executions('groups/commands/start-group-members'),
    find: '  await lockDequeue(tx);\n',
    replace: '',
  },
  {
    name: 'a group forgets members that still wait',
    file: executions('groups/commands/start-group-members'),
    find: 'if (!(await hasQueuedMembers(tx, tenant, groupId)))',
    replace: 'if (true)',
  },
  {
    name: 'what was cancelled in the queue begins',
    file: executions('engine/commands/cancel-execution'),
    find: "    phase: 'ending',\n    outcome: { status: 'cancelled', error },",
    replace:
      "    ...(execution.phase === 'waiting' ? {} : { phase: 'ending' as const, outcome: { status: 'cancelled' as const, error } }),",
  },
];
