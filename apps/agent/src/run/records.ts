import { executionsRpc } from '@baton/contracts';
import { type Clock, isoInstant, type Log } from '@baton/kernel';
import { endOfThrown } from '@baton/plugin-runtime';
import type { HeldTask, TaskRecords, Worker } from '@baton/worker/parts';
import type { JournaledTask, TaskJournal } from '../journal/task-journal';

/** The journal as the memory of the worker. */
export function journalRecords(journal: TaskJournal, log: Log): TaskRecords {
  return {
    begin: async ({ taskId, executionId, attempt, assignment, startedAt }) => {
      try {
        await journal.begin({ taskId, executionId, attempt, tenant: assignment.tenant, startedAt });
        return null;
      } catch (error) {
        const reason = (error as Error).message;
        log.error({ taskId, reason }, 'the disk takes no journal: the operation is not started');
        return endOfThrown(
          new Error(
            `the agent cannot start the operation: its journal cannot be written (${reason}); make room on the disk of the host`,
          ),
        );
      }
    },
    ended: async (task, outcome) => void (await journal.ended(task.taskId, outcome)),
    forget: ({ taskId, attempt }) => journal.done(taskId, attempt),
  };
}

/**
 * Reports what an earlier life of the agent has left: outcomes as they are, and operations without one as left. They are never
 * run again by the agent itself; the manager decides that.
 */
export async function reportLeft(deps: {
  left: readonly JournaledTask[];
  journal: TaskJournal;
  worker: Worker;
  flush(executionId: string): Promise<void> | null;
  clock: Clock;
  log: Log;
}): Promise<void> {
  const { worker, clock, log } = deps;
  for (const one of deps.left) {
    const outcome = one.outcome ?? leftOutcome(one, isoInstant(clock.now()));
    if (!one.outcome) {
      log.warn(
        { taskId: one.taskId, attempt: one.attempt },
        'the operation was running when the agent ended; it is reported as left',
      );
      await deps.journal.ended(one.taskId, outcome);
    }
    const task = heldOf(one, clock);
    worker.leaseDeps.tasks.add(task);
    const flushed = deps.flush(one.executionId) ?? Promise.resolve();
    void flushed.then(() => worker.reporter.add(task, outcome));
  }
}

function leftOutcome(one: JournaledTask, endedAt: string): executionsRpc.TaskOutcome {
  const exceptionType = 'AgentRestarted';
  const message = 'The agent of the host ended before the operation had ended; its processes were killed';
  const causes = [{ type: exceptionType, message, traceback: '' }];
  return {
    taskId: one.taskId,
    executionId: one.executionId,
    attempt: one.attempt,
    kind: executionsRpc.OutcomeKind.OUTCOME_KIND_LEFT,
    resultJson: '',
    errorJson: JSON.stringify({ exceptionType, message, traceback: null, causes }),
    retryAfter: -1,
    startedAt: one.startedAt,
    endedAt,
    untilExecution: '',
  };
}

const YEAR_MS = 365 * 86_400_000;

/** Only what a report needs; the assignment, which holds a token, is not in the journal. */
function heldOf({ taskId, executionId, attempt, tenant, startedAt }: JournaledTask, clock: Clock): HeldTask {
  return {
    taskId,
    executionId,
    attempt,
    leaseMs: YEAR_MS,
    assignment: { tenant, executionId } as HeldTask['assignment'],
    control: new AbortController(),
    startedAt,
    leaseUntil: clock.monotonic() + YEAR_MS,
    proof: '',
    phase: 'reporting',
    isRestored: true,
  };
}
