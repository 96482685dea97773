import type { OperationHost, OperationTask, WorkPort } from '@baton/plugin-runtime';

/** What the thread of workflow code begins with. */
export interface ThreadStart {
  task: OperationTask;
  /** Path of the module with the plugins of this worker. */
  handlers: string;
  /** Int32: how many log lines the main thread has taken. */
  linesTaken: SharedArrayBuffer;
}

/** Log lines under way at most: a thread that is ahead waits, also one that never waits by itself. */
export const LINES_AHEAD = 1_000;

/** Calls that the thread makes and the worker's main thread carries out, with plain JSON both ways. */
export type ThreadCall = { id: number; args: unknown[] } & (
  | { on: 'host'; method: 'open' | 'readDeployment' | 'readResource' | 'listResources' | 'deploymentDir' }
  | { on: 'port'; method: keyof WorkPort }
);

/** From the thread. `end`: an OperationEnd as JSON. */
export type FromThread =
  | { kind: 'call'; call: ThreadCall }
  | { kind: 'line'; line: Parameters<OperationHost['emit']> }
  | { kind: 'end'; end: string };

/** An error on its way back; `code` when it is one of the API's. */
export interface ThreadError {
  message: string;
  code: string | null;
  details: Record<string, unknown>;
}

/** To the thread. `abort`: the reason for which the code must end. */
export type ToThread =
  | { kind: 'answer'; id: number; value?: unknown; error?: ThreadError }
  | { kind: 'abort'; reason: string };
