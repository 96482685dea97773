/** The window of log lines in memory: the newest lines, limited in number, without duplicates. */
import type { Cause } from '../ui/causes';

export interface LogLine {
  /** Sequence number of the stream. */
  id: string;
  time: string;
  level: string | null;
  eventType: string | null;
  message: string;
  instanceId: string | null;
  operation: string | null;
  causes: Cause[];
}

export interface LogWindow {
  lines: LogLine[];
  /** Number of lines before the first one that were dropped or never read. */
  dropped: number;
}

const MOST_LINES = 2_000;
export const NO_LINES: LogWindow = { lines: [], dropped: 0 };

interface StreamedEvent {
  reported_timestamp?: string;
  timestamp?: string;
  level?: string | null;
  event_type?: string | null;
  message?: string | { text?: string };
  node_instance_id?: string | null;
  source_id?: string | null;
  operation?: string | null;
  error_causes?: LogLine['causes'] | null;
}

/** Converts an event of the stream into a line. */
export function lineOf(id: string, event: StreamedEvent): LogLine {
  const { message } = event;
  return {
    id,
    time: event.reported_timestamp ?? event.timestamp ?? '',
    level: event.level ?? null,
    eventType: event.event_type ?? null,
    message: typeof message === 'string' ? message : (message?.text ?? ''),
    instanceId: event.node_instance_id ?? event.source_id ?? null,
    operation: event.operation ?? null,
    causes: event.error_causes ?? [],
  };
}

/** Appends lines to the window. Ignores lines that are already there, which a resumed stream may repeat. */
export function withLines(window: LogWindow, more: readonly LogLine[], most = MOST_LINES): LogWindow {
  const lastId = Number(window.lines.at(-1)?.id ?? Number.NEGATIVE_INFINITY);
  const fresh: LogLine[] = [];
  let newestId = lastId;
  for (const line of more) {
    const id = Number(line.id);
    if (id <= newestId) continue;
    newestId = id;
    fresh.push(line);
  }
  if (fresh.length === 0) return window;
  const lines = [...window.lines, ...fresh];
  const over = Math.max(0, lines.length - most);
  return { lines: over > 0 ? lines.slice(over) : lines, dropped: window.dropped + over };
}

/** Returns the colour of a line. A failure event counts as bad at any log level. */
export function lineTone({
  level,
  eventType,
}: Pick<LogLine, 'level' | 'eventType'>): 'bad' | 'warn' | 'good' | 'quiet' | 'plain' {
  if (level === 'error' || level === 'critical' || /_failed$/.test(eventType ?? '')) return 'bad';
  if (level === 'warning' || level === 'warn' || /_(rescheduled|cancelled)$/.test(eventType ?? ''))
    return 'warn';
  if (/_succeeded$/.test(eventType ?? '')) return 'good';
  return level === 'debug' ? 'quiet' : 'plain';
}
