/** What no payload may do: end a process, close its ears, or be told of again and again. */
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
  /** Lines of the logs since the begin, by process. */
  lines(): Map<string, Line[]>;
  /** The same processes live and answer. */
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
          // The last one may be in the middle of its being written.
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
    // What is no line of ours was written by Node when it ended.
    return /unhandled|Error:|^\s+at /i.test(text) ? [{ level: 'fatal', message: text }] : [];
  }
}

export const reasonOf = ({ message, err, error }: Line): string =>
  `${message}: ${err?.message ?? (typeof error === 'string' ? error : error?.message) ?? ''}`.slice(0, 300);
