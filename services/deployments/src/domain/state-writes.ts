/** Folds state writes of the engine before they are stored: one write per node instance and batch. */

export interface StateWrite {
  nodeInstanceId: string;
  /** Empty: only system properties change. */
  state: string;
  seq: number;
  /** JSON text of a list of edits of system_properties, or empty. */
  edits: string;
}

export interface FoldedWrite {
  id: string;
  /** Null: unchanged. */
  state: string | null;
  /** Sequence number of the write that set `state`. */
  state_seq: number;
  /** The highest sequence number of the folded writes. */
  seq: number;
  /** Edits with the sequence number of their write, so that those applied before can be skipped. */
  edits: ({ seq: number } & Record<string, unknown>)[] | null;
}

/** Folds the writes of a batch per instance, by sequence number; sorted by id, the order in which rows are locked. */
export function foldWrites(writes: readonly StateWrite[]): FoldedWrite[] {
  const folded = new Map<string, FoldedWrite>();
  for (const write of [...writes].sort((a, b) => a.seq - b.seq)) {
    const one = folded.get(write.nodeInstanceId) ?? {
      id: write.nodeInstanceId,
      state: null,
      state_seq: 0,
      seq: 0,
      edits: null,
    };
    one.seq = write.seq;
    if (write.state !== '') {
      one.state = write.state;
      one.state_seq = write.seq;
    }
    if (write.edits !== '') {
      one.edits = [
        ...(one.edits ?? []),
        ...editsOf(write.edits).map((edit) => ({ ...edit, seq: write.seq })),
      ];
    }
    folded.set(write.nodeInstanceId, one);
  }
  return [...folded.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Parses edits: a list, or an object whose members are to be set. */
function editsOf(text: string): Record<string, unknown>[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value as Record<string, unknown>[];
  return Object.entries(value ?? {}).map(([name, member]) => ({ edit: 'set', path: [name], value: member }));
}
