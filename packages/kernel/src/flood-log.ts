import type { Clock } from './clock';
import type { Log } from './log';

/** Logs what a stranger can cause as often as he likes: each kind of line once a minute, then how often it came. */
export interface FloodLog {
  /** `key` says which lines are one kind: what happened, and who caused it. */
  warn(key: string, fields: object, message: string): void;
  error(key: string, fields: object, message: string): void;
  /** Writes the counts that are still kept; before a process stops. */
  flush(): void;
}

const MINUTE_MS = 60_000;
/** More kinds than this in one minute are counted together. */
const MAX_KINDS = 1_000;

interface Kind {
  level: 'warn' | 'error';
  /** Of the last line that was not written. */
  fields: object;
  message: string;
  suppressed: number;
  untilMs: number;
}

/**
 * The first line of a kind is written at once. Those of the minute after it are counted, and end as one line with
 * `suppressed`, the number of lines that it stands for, and the fields of the last of them.
 */
export function createFloodLog(log: Log, clock: Clock): FloodLog {
  const kinds = new Map<string, Kind>();
  let timer: NodeJS.Timeout | null = null;

  const end = (key: string, kind: Kind): void => {
    kinds.delete(key);
    if (kind.suppressed > 0)
      log[kind.level]({ ...kind.fields, suppressed: kind.suppressed, withinMs: MINUTE_MS }, kind.message);
  };
  const sweep = (): void => {
    timer = null;
    const nowMs = clock.monotonic();
    for (const [key, kind] of kinds) if (kind.untilMs <= nowMs) end(key, kind);
    if (kinds.size > 0) later();
  };
  const later = (): void => {
    // The last counts are written by `flush`: nobody waits a minute for them.
    timer = setTimeout(sweep, MINUTE_MS).unref();
  };
  const write = (level: Kind['level'], given: string, fields: object, message: string): void => {
    const nowMs = clock.monotonic();
    const key = kinds.has(given) || kinds.size < MAX_KINDS ? given : `many: ${message}`;
    const kind = kinds.get(key);
    if (kind && kind.untilMs > nowMs) {
      kind.suppressed += 1;
      kind.fields = fields;
      return;
    }
    if (kind) end(key, kind);
    kinds.set(key, { level, fields, message, suppressed: 0, untilMs: nowMs + MINUTE_MS });
    log[level](fields, message);
    if (timer === null) later();
  };
  return {
    warn: (key, fields, message) => write('warn', key, fields, message),
    error: (key, fields, message) => write('error', key, fields, message),
    flush: () => {
      for (const [key, kind] of kinds) end(key, kind);
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
