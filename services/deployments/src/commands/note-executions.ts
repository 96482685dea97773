import { type Db, gather } from '@baton/postgres';
import { type ExecutionNote, type NoteResult, noteExecutions } from '../store/statuses.sql';
import type { DB } from '../store/tables.gen';

export interface ExecutionNotes {
  write(note: ExecutionNote): Promise<NoteResult>;
}

const NOT_NOTED: NoteResult = { isDone: false, hasComputed: false };

/**
 * Notes of executions that begin or end at the same moment share one statement, and so one commit. When it fails each is
 * written alone, and one that cannot be is left to its transaction, which says why. Crash before the answer: whoever asked
 * repeats it, and repeats change nothing.
 */
export function gatherNotes(db: Pick<Db<DB>, 'statement'>): ExecutionNotes {
  const writeAlone = (note: ExecutionNote): Promise<NoteResult> =>
    noteExecutions(db, [note]).then(
      ([result]) => result!,
      () => NOT_NOTED,
    );
  const gathered = gather<ExecutionNote, NoteResult>((notes) =>
    noteExecutions(db, notes).catch(() => Promise.all(notes.map(writeAlone))),
  );
  return { write: async (note) => (await gathered.read('', note)) ?? NOT_NOTED };
}
