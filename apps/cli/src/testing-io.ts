import { Readable } from 'node:stream';
import type { CliIo } from './cli-io';
import { cliEnvironment } from './config';

export interface QuietIo {
  io: CliIo;
  /** What was written so far. */
  out(): string;
  err(): string;
  /** As Ctrl-C. */
  interrupt(): void;
}

/** Streams that keep what is written, for tests. `env`: the environment; `input`: standard input. */
export function quietIo(
  env: Record<string, string> = {},
  input = '',
  more: Partial<Pick<CliIo, 'isTerminal' | 'isErrTerminal' | 'input'>> = {},
): QuietIo {
  let out = '';
  let err = '';
  const handlers = new Set<() => void>();
  const io: CliIo = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    isTerminal: false,
    isErrTerminal: false,
    input: Readable.from([Buffer.from(input)]),
    env: cliEnvironment({ BATON_PROFILES: '/nonexistent/profiles.json', ...env }),
    onInterrupt: (handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    ...more,
  };
  return {
    io,
    out: () => out,
    err: () => err,
    interrupt: () => {
      for (const handler of handlers) handler();
    },
  };
}
