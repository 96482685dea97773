import { type Db, gather, isConnectionLoss, type OutgoingMessage } from '@baton/postgres';
import type { DB } from '../store/tables.gen';
import { type AcceptableStart, acceptExecutions } from './store/accept.sql';
import type { NewExecution, TimedExecution } from './store/executions.sql';

/** Fast path: inserts executions that nothing running or queued blocks; those that are asked for at the same moment in one statement. */
export interface Acceptor {
  /**
   * Writes the execution's row, with its message and the one that the audit log of this request waits for. Null: something is
   * at work that decides whether it may start, or as many of the tenant are as its quota allows, and nothing was written.
   * @throws unique violation when its request id is taken; AppError service_unavailable_error when the database is lost: then
   *   it may have been accepted.
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
      // Of one tenant alone where it has a quota, whose lock comes before all others.
      const group = maxRunning === null ? '' : row.tenant;
      const found = await together.read(group, start).catch(async (error: unknown) => {
        if (isConnectionLoss(error)) throw error;
        // One of them cannot be written, and so none was: the others must not fail with it.
        return (await accepted([start]))[0]!;
      });
      if (found) recorded();
      return found;
    },
  };
}
