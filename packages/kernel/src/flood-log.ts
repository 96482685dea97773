import type { Clock } from './clock';
import type { Log } from './log';

/** Log for events that a stranger can cause as often as they want: each kind of line once a minute, then with a count. */
export interface FloodLog {
  /** Lines of one kind have the same `who` (cause) and `what` (event). */
  warn(who: string, what: string, fields: object, message: string): void;
  error(who: string, what: string, fields: object, message: string): void;
  /** Writes the pending counts; to be called before a process stops. */
  flush(): void;
}

const MINUTE_MS = 60_000;
/** Kinds beyond these numbers per minute, of one `who` and of all, are counted together. */
const MAX_KINDS_OF_ONE = 30;
const MAX_KINDS = 1_000;

interface Kind {
  who: string;
  level: 'warn' | 'error';
  /** Fields of the last line that was not written. */
  fields: object;
  message: string;
  suppressed: number;
  untilMs: number;
}

/**
 * The first line of a kind is written at once. Lines of the next minute are counted, and end as one line with
 * `suppressed`, the number of counted lines, and the fields of the last of them.
 */
export function createFloodLog(log: Log, clock: Clock): FloodLog {
  const kinds = new Map<string, Kind>();
  const kindsOf = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  const end = (key: string, kind: Kind): void => {
    kinds.delete(key);
    const left = (kindsOf.get(kind.who) ?? 1) - 1;
    if (left > 0) kindsOf.set(kind.who, left);
    else kindsOf.delete(kind.who);
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
    // The last counts are written by `flush`: the process does not stay alive for this timer.
    timer = setTimeout(sweep, MINUTE_MS).unref();
  };
  const keyOf = (who: string, what: string, message: string): string => {
    const key = `${who}\n${what}`;
    if (kinds.has(key)) return key;
    if (kinds.size >= MAX_KINDS) return `\n${message}`;
    return (kindsOf.get(who) ?? 0) < MAX_KINDS_OF_ONE ? key : `${who}\n\n${message}`;
  };
  const write = (level: Kind['level'], who: string, what: string, fields: object, message: string): void => {
    const nowMs = clock.monotonic();
    const key = keyOf(who, what, message);
    const kind = kinds.get(key);
    if (kind && kind.untilMs > nowMs) {
      kind.suppressed += 1;
      kind.fields = fields;
      return;
    }
    if (kind) end(key, kind);
    kinds.set(key, { who, level, fields, message, suppressed: 0, untilMs: nowMs + MINUTE_MS });
    kindsOf.set(who, (kindsOf.get(who) ?? 0) + 1);
    log[level](fields, message);
    if (timer === null) later();
  };
  return {
    warn: (who, what, fields, message) => write('warn', who, what, fields, message),
    error: (who, what, fields, message) => write('error', who, what, fields, message),
    flush: () => {
      for (const [key, kind] of kinds) end(key, kind);
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
