/**
 * Effects that no payload may have: the end of a process, a service that stops answering, or the same error in the log again and
 * again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fleet } from '../../harness/fleet';
import { untilAnswers } from '../../harness/processes';
import { tell } from '../findings';

export interface Line {
  level: string;
  message?: string;
  err?: { message?: string; stack?: string };
  error?: { message?: string } | string;
  [field: string]: unknown;
}

export interface Watch {
  /** Log lines since the start, by process. */
  lines(): Map<string, Line[]>;
  /** Checks that the same processes are alive and answer. */
  judge(): Promise<void>;
}

export function watch(fleet: Fleet): Watch {
  const folder = join(fleet.dir, 'logs');
  const pids = new Map([...fleet.processes].map(([name, process]) => [name, process.pid()]));
  const begun = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).length]));
  return {
    lines: () =>
      new Map(
        readdirSync(folder).map((name) => {
          const text = readFileSync(join(folder, name))
            .subarray(begun.get(name) ?? 0)
            .toString('utf8');
          // The last line may be written only in part.
          return [name.replace(/\.log$/, ''), text.split('\n').slice(0, -1).flatMap(lineOf)];
        }),
      ),
    judge: async () => {
      for (const [name, process] of fleet.processes) {
        const end = process.unexpectedEnd();
        if (end !== null) tell('process ended', name, end);
        else if (process.pid() !== pids.get(name)) tell('process ended', name, `${name} is another process`);
      }
      for (const origin of [...Object.values(fleet.http), ...fleet.baseUrls])
        for (const path of ['/healthz', '/readyz'])
          await untilAnswers(`${origin}${path}`).catch((error: Error) =>
            tell('no health', origin, error.message),
          );
    },
  };
}

function lineOf(text: string): Line[] {
  if (text === '') return [];
  try {
    return [JSON.parse(text) as Line];
  } catch {
    // A line that is not in our format was written by Node when the process ended.
    return /unhandled|Error:|^\s+at /i.test(text) ? [{ level: 'fatal', message: text }] : [];
  }
}

export const reasonOf = ({ message, err, error }: Line): string =>
  `${message}: ${err?.message ?? (typeof error === 'string' ? error : error?.message) ?? ''}`.slice(0, 300);
