import type { executionsRpc } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { workflowLog } from '../../events/domain/graph-events';
import { appendEvents, rememberBatch } from '../../events/store/events.sql';
import type { Ports } from '../../ports';
import type { Outcome } from '../../store/rows';
import { isCarriedOutElsewhere } from '../domain/system-workflows';
import { lockExecution, updateExecution } from '../store/executions.sql';

type ReportSystemExecutionDeps = Pick<Ports, 'db' | 'turns' | 'wake'>;

const ENDS: readonly string[] = ['terminated', 'failed', 'cancelled'] satisfies Outcome['status'][];

/**
 * Stores log lines and the end of an execution that another service carries out; returns its status before this report, '' when
 * the execution is gone. The end goes through the engine's usual phase `ending`. A repeated or late report changes nothing. The
 * other service repeats a report until it is answered, so a crash on either side loses nothing.
 * @throws AppError conflict_error for an execution that the engine carries out itself.
 */
export async function reportSystemExecution(
  deps: ReportSystemExecutionDeps,
  report: executionsRpc.ReportSystemExecutionRequest,
): Promise<string> {
  const { status, isEnding } = await deps.turns.take(report.executionId, () =>
    deps.db.tx(async (tx) => {
      const execution = await lockExecution(tx, report.executionId);
      const told = (isEnding: boolean) => ({ status: execution?.status ?? '', isEnding });
      if (!execution) return told(false);
      if (!isCarriedOutElsewhere(execution))
        throw new AppError('conflict_error', `Execution ${execution.id} is carried out by the engine`);
      if (execution.phase === 'ended') return told(false);
      if (report.log.length > 0 && (await rememberBatch(tx, report.batchId))) {
        const lines = report.log.map((line) => workflowLog(execution, 'info', line));
        execution.last_event_seq = await appendEvents(tx, execution, lines);
        await updateExecution(tx, execution.id, { last_event_seq: execution.last_event_seq });
      }
      if (!ENDS.includes(report.endStatus)) return told(false);
      // Its end is decided already, by an earlier report or an accepted cancel.
      if (execution.phase === 'ending') return told(true);
      const outcome = { status: report.endStatus as Outcome['status'], error: report.error };
      // A waiting execution has a status that is not allowed in this phase.
      const waiting = execution.phase === 'waiting' ? { status: 'cancelling' as const } : {};
      await updateExecution(tx, execution.id, { phase: 'ending', outcome, wake_at: null, ...waiting });
      return told(true);
    }),
  );
  if (isEnding) deps.wake.drive(report.executionId);
  else if (report.log.length > 0) deps.wake.events(report.executionId);
  return status;
}
