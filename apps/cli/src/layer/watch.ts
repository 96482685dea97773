import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { CliIo } from '../cli-io';
import { UsageFailure } from '../failure';
import type { Printer } from '../output';
import { type GlobalOptions, printerOf } from '../session';

const DEFAULT_S = 2;
/** A shorter pause would only load the manager. */
const LEAST_S = 0.2;
const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

export const watchOption = (): Option =>
  new Option('--watch [seconds]', 'show it again whenever it changes, until Ctrl-C');

/**
 * Runs a reading command again and again. A terminal shows the latest output; elsewhere an output is written only when it
 * differs from the one before. Ctrl-C is the normal end. A failure ends it, a lost connection too.
 * @param once reads and prints
 */
export async function watched(
  io: CliIo,
  command: Command,
  seconds: string | true,
  once: (out: Printer) => unknown,
): Promise<void> {
  const everyMs = intervalMs(seconds);
  const end = new AbortController();
  const stopListening = io.onInterrupt(() => end.abort());
  let before: string | null = null;
  try {
    while (!end.signal.aborted) {
      let text = '';
      const out = printerOf(io, command.optsWithGlobals<GlobalOptions>(), (piece) => {
        text += piece;
      });
      await once(out);
      if (text !== before) io.out(io.isTerminal && !out.isMachine ? `${CLEAR}${text}` : text);
      before = text;
      await pause(everyMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  } finally {
    stopListening();
  }
}

function intervalMs(value: string | true): number {
  const seconds = value === true ? DEFAULT_S : Number(value);
  if (!Number.isFinite(seconds) || seconds < LEAST_S)
    throw new UsageFailure(`--watch ${value}: expected seconds, at least ${LEAST_S}`);
  return seconds * 1000;
}
