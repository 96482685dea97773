import type { OperationHost, OperationTask, WorkPort } from '@baton/plugin-runtime';

/** Start data of the thread that runs workflow code. */
export interface ThreadStart {
  task: OperationTask;
  /** Path of the module with the plugins of this worker. */
  handlers: string;
  /** Int32: number of log lines that the main thread has taken. */
  linesTaken: SharedArrayBuffer;
}

/** The most log lines under way: a thread that is further ahead waits, even when its code never waits itself. */
export const LINES_AHEAD = 1_000;

/** Calls of the thread that the worker's main thread carries out, with plain JSON in both directions. */
export type ThreadCall = { id: number; args: unknown[] } & (
  | { on: 'host'; method: 'open' | 'readDeployment' | 'readResource' | 'listResources' | 'deploymentDir' }
  | { on: 'port'; method: keyof WorkPort }
);

/** Messages from the thread. `end`: an OperationEnd as JSON. */
export type FromThread =
  | { kind: 'call'; call: ThreadCall }
  | { kind: 'line'; line: Parameters<OperationHost['emit']> }
  | { kind: 'end'; end: string };

/** An error in the answer to a call; `code` when it is an error of the API. */
export interface ThreadError {
  message: string;
  code: string | null;
  details: Record<string, unknown>;
}

/** Messages to the thread. `abort`: the reason why the code must end. */
export type ToThread =
  | { kind: 'answer'; id: number; value?: unknown; error?: ThreadError }
  | { kind: 'abort'; reason: string };
