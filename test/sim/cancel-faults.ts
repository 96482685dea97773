import type { SeededFault } from './seeded-faults';

/** Bugs in the rules of cancels: which operations stay running, for how long, and which work may begin beside them. */
const executions = (file: string) => `services/executions/src/${file}.ts`;
const ADMISSION = 'services/executions/src/executions/domain/admission.ts';

/** The substitute of the queue selects candidates by the same rule. */
const HEADS = 'test/sim/service/store/queue.sql.ts';

export const cancelFaults: readonly SeededFault[] = [
  {
    name: 'work starts beside an operation that a cancel has left running',
    file: ADMISSION,
    find: 'const leftRuns = request.isForced || request.isSystemWide ? [] : facts.leftRuns;',
    replace: 'const leftRuns = facts.leftRuns.slice(0, 0);',
    also: {
      file: HEADS,
      find: '  if (leftOf(reader, one.deployment_id, one.id).length > 0) return false;\n',
      replace: '',
    },
  },
  {
    name: 'what is queued behind a cancel never starts',
    file: executions('executions/commands/dequeue-executions'),
    find: "row.id !== candidate.id && (row.phase !== 'waiting' || (!isAwaited && isEarlier(row, candidate))),",
    replace: 'row.id !== candidate.id,',
  },
  {
    name: 'a cancel leaves what runs no grace',
    file: executions('engine/commands/cancel-execution'),
    find: "const graceMs = mode === 'cancel' ? cancelGraceMs(execution, deps.cancelGraceMs) : 0;",
    replace: 'const graceMs = Math.min(0, cancelGraceMs(execution, deps.cancelGraceMs));',
  },
  {
    name: 'the grace of a cancel is over at once',
    file: executions('engine/commands/wake-executions'),
    find: 'isInGrace(graph) && graph.flags.grace!.until <= execution.now_ms',
    replace: 'isInGrace(graph)',
    also: {
      file: executions('engine/commands/cancel-execution'),
      find: 'if (graceUntil !== undefined) deps.wake.timer(executionId, graceUntil);',
      replace: 'if (graceUntil !== undefined) deps.wake.timer(executionId, 0);',
    },
  },
  {
    name: 'a forced cancel waits for what runs, as a plain one does',
    file: executions('engine/commands/cancel-execution'),
    find: "const graceMs = mode === 'cancel' ? cancelGraceMs(execution, deps.cancelGraceMs) : 0;",
    replace: 'const graceMs = cancelGraceMs(execution, 60_000);',
    also: {
      file: 'packages/task-graph/src/advance.ts',
      find: "    cancel === 'cancel' &&\n    grace !== undefined &&",
      replace: '    cancel !== null &&\n    grace !== undefined &&',
    },
  },
  {
    name: 'the end of a forced cancel is told by nobody',
    file: executions('engine/commands/tell-owed-ends'),
    find: "    await tellDeployments(deps, execution, { status: execution.status as Outcome['status'] });",
    replace: '    void tellDeployments;',
  },
];
