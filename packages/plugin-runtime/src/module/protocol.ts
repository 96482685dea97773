import type { EmitKind } from '../host';
import type { OperationEnd } from '../operation-end';
import type { OperationTask } from '../task';

/** The descriptor of the wire, in the environment of the process. */
export const WIRE_VARIABLE = 'BATON_MODULE_FD';

/** A call that the code of a workflow makes to the engine, through the worker. */
export type WorkMethod = 'submitWork' | 'awaitWork' | 'callEngine';
/** A call that an operation, or the code of a workflow, makes to the worker. */
export type CallMethod =
  | 'open'
  | 'save'
  | 'readDeployment'
  | 'listResources'
  | 'readPart'
  | 'secret'
  | 'agentScript'
  | WorkMethod;

/** An error in the answer to a call; `code` when it is an error of the API. */
export interface WireFailure {
  message: string;
  code: string | null;
  details: Record<string, unknown>;
  /** The kind of an error of the SDK; null: another error. */
  kind: string | null;
}

/** Messages to the process. `op`: number of the operation, or of the run of workflow code, in this process. */
export type ToModule =
  | { t: 'run'; op: number; task: OperationTask }
  | { t: 'abort'; op: number; reason: string }
  | { t: 'answer'; op: number; id: number; value?: unknown; error?: WireFailure };

/** Messages of the process. The worker believes none of them: it checks each field. */
export type FromModule =
  | {
      t: 'hello';
      name: string;
      version: string;
      /** Mapping of each operation, and whether it is resumable. */
      operations: [string, boolean][];
      /** The same of each workflow. */
      workflows: [string, boolean][];
      secrets: string[];
    }
  | { t: 'unusable'; message: string }
  | { t: 'call'; op: number; id: number; method: CallMethod; args: unknown[] }
  | { t: 'line'; op: number; kind: EmitKind; level: string; message: string }
  /** `rss`: bytes of memory that the process has; null: not measured now. */
  | { t: 'end'; op: number; end: OperationEnd; rss: number | null };

/** A part of a file of the blueprint, in base64. */
export interface FilePart {
  data: string;
  isLast: boolean;
}
