/** Messages to and from the parsing worker. */
import type { ArchiveTask, Completions, Diagnostic } from '@baton/dsl';
import type { PlannedNode } from '../topology/plan-topology';

export type EditorNode = PlannedNode & { id: string; file: string | null; line: number };

/** Result of one round. If `needs` is not empty, the result is provisional. */
export interface ParseResult {
  needs: string[];
  diagnostics: Diagnostic[];
  /** Nodes of the last text that could be parsed; null when there was none. */
  nodes: EditorNode[] | null;
  /** The worker found no errors. Some checks only the manager can do. */
  isValid: boolean;
}

export type WorkerRequest = { id: number } & (
  | { kind: 'parse'; task: ArchiveTask }
  | { kind: 'complete'; text: string; offset: number }
);
export interface WorkerReply {
  id: number;
  result?: ParseResult | Completions | null;
  /** Error text of a programming error in the worker. */
  fault?: string;
}
