import type { GraphOutcome } from '@baton/task-graph';
import type { LockedExecution } from '../../executions/store/executions.sql';
import type { StepWrite } from '../store/step-write';
import type { SteppedRow } from '../store/steps.sql';
import type { GraphMemory, LoadedGraph } from './graph-memory';

export interface Step {
  /** Operations that the claiming workers now hold, by claim. */
  claimed: number[][];
  outcome: GraphOutcome | null;
  refused: { idx: number; attempt: number }[];
  hasStates: boolean;
  /** A timer was set or may have run out: the step needs the database's own time. */
  hasTimers: boolean;
}

export interface StepContext {
  execution: LockedExecution;
  loaded: LoadedGraph;
}

/**
 * A step that is decided in a graph in memory and not stored yet: the graph is ahead of its rows, and memory shows it to no caller.
 * The step ends once, in one of two ways. `commit`: its write is stored, and the transaction that it is part of is committed.
 * `drop`: it is not stored, and the graph is read anew. A transaction that is tried again decides anew, from a graph read anew.
 */
export interface Uncommitted {
  readonly context: StepContext;
  readonly step: Step;
  /** The write of the step; until it is written, the end of the graph may be added. */
  write: StepWrite;
  /** Ends the step as stored: the graph fits its rows again, and the execution's row is updated in memory. */
  commit(row: SteppedRow): void;
  /** Ends the step as not stored: memory forgets the graph. */
  drop(): void;
}

type Memory = Pick<GraphMemory, 'keep' | 'forget'>;

/** Creates the step of a graph that `markAhead` was called for. */
export function uncommitted(memory: Memory, context: StepContext, step: Step, write: StepWrite): Uncommitted {
  const { loaded } = context;
  let isEnded = false;
  const end = (): void => {
    if (isEnded) throw new Error(`a step of execution ${loaded.executionId} was ended twice`);
    isEnded = true;
  };
  const decided: Uncommitted = {
    context,
    step,
    write,
    commit(row) {
      end();
      noteRow(context.execution, decided.write, row);
      noteGraph(context, decided.write, row);
      memory.keep(loaded);
    },
    drop() {
      end();
      memory.forget(loaded.executionId);
    },
  };
  return decided;
}

/** Marks the graph in memory as ahead of its rows; called before a step is decided in it. */
export function markAhead(loaded: LoadedGraph): void {
  loaded.isAhead = true;
}

/** Updates the row in memory to its state after the write, also before the transaction of the write is committed. */
export function noteRow(execution: LockedExecution, write: StepWrite, row: SteppedRow): void {
  const { version, last_event_seq, last_state_seq, now_ms } = row;
  Object.assign(execution, write.changes, { version, last_event_seq, last_state_seq, now_ms });
  execution.wake_at = write.wakeAt;
}

function noteGraph({ execution, loaded }: StepContext, write: StepWrite, row: SteppedRow): void {
  const { version, last_state_seq } = row;
  loaded.isAhead = false;
  loaded.version = version;
  loaded.execution = execution;
  if (loaded.deliveredSeq === write.deliveredSeq) loaded.deliveredSeq = 0;
  const base = last_state_seq - write.states.length;
  for (const [i, state] of write.states.entries()) loaded.states.push({ ...state, seq: base + 1 + i });
}
