import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, isoInstant, type Log } from '@baton/kernel';
import { complain } from '../complain';

export interface LogSettings {
  level: string;
  maxBytes: number;
  maxHistory: number;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];
/** Levels as blueprints write them. */
const ALIKE: Record<string, Level> = { warning: 'warn', critical: 'error' };
const SECRET = /pass(word|phrase)|token|secret|authorization|^key$/i;

export interface AgentLog extends Log {
  /** From now on these settings count. */
  set(settings: LogSettings): void;
}

/**
 * The log of the agent: JSON lines in `<folder>/agent.log`, moved to agent.log.1 ... when it is full. Warnings and errors also go
 * to the standard error output, which the service manager keeps. Fields that look like secrets are not written. A full disk
 * loses lines; it does not stop the agent.
 */
export function createAgentLog(folder: string, clock: Clock, first: LogSettings): AgentLog {
  const file = join(folder, 'agent.log');
  let settings = first;
  let bytes = sizeOf(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o750 });
  } catch {
    // The first line says nothing then; the standard error output does.
  }
  const write = (level: Level, bound: object, fields: object, message: string): void => {
    if (LEVELS.indexOf(level) < leastOf(settings.level)) return;
    const line = `${JSON.stringify({ level, time: isoInstant(clock.now()), ...shown({ ...bound, ...fields }), message })}\n`;
    if (level === 'warn' || level === 'error') complain(line);
    try {
      if (bytes + line.length > settings.maxBytes) bytes = rotate(file, settings.maxHistory);
      appendFileSync(file, line, { mode: 0o640 });
      bytes += Buffer.byteLength(line);
    } catch {
      // See above.
    }
  };
  const logOf = (bound: object): Log => ({
    debug: (fields, message) => write('debug', bound, fields, message),
    info: (fields, message) => write('info', bound, fields, message),
    warn: (fields, message) => write('warn', bound, fields, message),
    error: (fields, message) => write('error', bound, fields, message),
    child: (more) => logOf({ ...bound, ...more }),
  });
  return {
    ...logOf({}),
    set: (next) => {
      settings = next;
    },
  };
}

function leastOf(level: string): number {
  const name = ALIKE[level.toLowerCase()] ?? (level.toLowerCase() as Level);
  const found = LEVELS.indexOf(name);
  return found < 0 ? LEVELS.indexOf('info') : found;
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Returns the size of the new file. */
function rotate(file: string, history: number): number {
  for (let i = history; i > 1; i--)
    if (statSync(`${file}.${i - 1}`, { throwIfNoEntry: false }))
      renameSync(`${file}.${i - 1}`, `${file}.${i}`);
  if (history > 0) renameSync(file, `${file}.1`);
  return history > 0 ? 0 : sizeOf(file);
}

function shown(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (SECRET.test(name)) return [name, '[redacted]'];
      if (value instanceof Error) return [name, value.stack ?? value.message];
      return [name, value];
    }),
  );
}
