import { type CliEnvironment, cliEnvironment } from './config';

/** What a run of the program touches besides files: the streams, the environment and Ctrl-C. Tests bring their own. */
export interface CliIo {
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** Whether standard output is a terminal. */
  isTerminal: boolean;
  /** Whether standard error is a terminal: progress is shown only there. */
  isErrTerminal: boolean;
  input: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };
  env: CliEnvironment;
  /** Calls `handler` at Ctrl-C instead of ending the process. @returns a function that stops listening */
  onInterrupt(handler: () => void): () => void;
}

/** The streams of this process. A reader that has enough, such as `head`, ends the program quietly. */
export function processIo(): CliIo {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isTerminal: process.stdout.isTTY === true,
    isErrTerminal: process.stderr.isTTY === true,
    input: process.stdin,
    env: cliEnvironment(),
    onInterrupt(handler) {
      process.once('SIGINT', handler);
      return () => process.off('SIGINT', handler);
    },
  };
}
