import { type Db, gather, isConnectionLoss, type OutgoingMessage } from '@baton/postgres';
import type { DB } from '../store/tables.gen';
import { type AcceptableStart, acceptExecutions } from './store/accept.sql';
import type { NewExecution, TimedExecution } from './store/executions.sql';

/** Fast path: inserts executions that nothing running or queued blocks. Requests of the same moment share one statement. */
export interface Acceptor {
  /**
   * Writes the execution's row, with its message and the message that the audit log of this request waits for. Returns null when
   * nothing was written: something may block the start, or the tenant's quota of executions at work is reached.
   * @throws unique violation when its request id is taken; AppError service_unavailable_error when the database is lost: the
   *   execution may have been accepted then.
   */
  accept(
    row: NewExecution,
    message: OutgoingMessage,
    maxRunning: number | null,
  ): Promise<TimedExecution | null>;
}

export function createAcceptor(db: Pick<Db<DB>, 'audited' | 'statement'>): Acceptor {
  const accepted = async (starts: readonly AcceptableStart[]): Promise<(TimedExecution | null)[]> => {
    const rows = await acceptExecutions(db, starts);
    return starts.map((start) => rows.find(({ id }) => id === start.row.id) ?? null);
  };
  const together = gather(accepted);
  return {
    async accept(row, message, maxRunning) {
      const { messages, recorded } = db.audited([message]);
      const start = { row, messages, maxRunning };
      // Starts under a quota are grouped by tenant, since the lock of the quota comes before all other locks.
      const group = maxRunning === null ? '' : row.tenant;
      const found = await together.read(group, start).catch(async (error: unknown) => {
        if (isConnectionLoss(error)) throw error;
        // One start of the statement cannot be written, so none was written: the others must not fail with it.
        return (await accepted([start]))[0]!;
      });
      if (found) recorded();
      return found;
    },
  };
}
