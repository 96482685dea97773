import { type Db, gather } from '@baton/postgres';
import { type ExecutionNote, noteExecutions } from '../store/statuses.sql';
import type { DB } from '../store/tables.gen';

export interface ExecutionNotes {
  /** False: nothing was written, it takes a transaction. */
  write(note: ExecutionNote): Promise<boolean>;
}

/**
 * Notes of executions that begin or end at the same moment share one statement, and so one commit. When it fails each is
 * written alone, and one that cannot be is left to its transaction, which says why. Crash before the answer: whoever asked
 * repeats it, and repeats change nothing.
 */
export function gatherNotes(db: Pick<Db<DB>, 'statement'>): ExecutionNotes {
  const writeAlone = (note: ExecutionNote): Promise<boolean> =>
    noteExecutions(db, [note]).then(
      ([isDone]) => isDone!,
      () => false,
    );
  const gathered = gather<ExecutionNote, boolean>((notes) =>
    noteExecutions(db, notes).catch(() => Promise.all(notes.map(writeAlone))),
  );
  return { write: async (note) => (await gathered.read('', note)) === true };
}
