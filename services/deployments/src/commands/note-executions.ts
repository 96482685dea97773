import { type Db, gather } from '@baton/postgres';
import { type ExecutionNote, type NoteResult, noteExecutions } from '../store/statuses.sql';
import type { DB } from '../store/tables.gen';

export interface ExecutionNotes {
  write(note: ExecutionNote): Promise<NoteResult>;
}

const NOT_NOTED: NoteResult = { isDone: false, hasComputed: false };

/**
 * Gathers the notes of executions that begin or end at the same moment into one statement, and so one commit. When the statement
 * fails, each note is written alone; a note that fails again is left to its own transaction, which reports the reason. After a
 * crash before the answer the caller repeats the note, and repeats change nothing.
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
