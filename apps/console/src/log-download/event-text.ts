/** An event or log line as lines of a text file. */

export interface StoredEvent {
  reported_timestamp?: string;
  level?: string | null;
  event_type?: string | null;
  message?: string;
  workflow_id?: string | null;
  node_instance_id?: string | null;
  source_id?: string | null;
  operation?: string | null;
  error_causes?: { message: string; traceback: string | null; type: string }[] | null;
}

/** Returns one line, followed by indented lines for the details: the text of an event may have several lines. */
export function textOfEvent(event: StoredEvent): string {
  const of = [event.node_instance_id ?? event.source_id, event.operation].filter(Boolean).join(' ');
  const head = [
    event.reported_timestamp ?? '',
    (event.level ?? event.event_type ?? '').toUpperCase(),
    of && `[${of}]`,
    event.message ?? '',
  ];
  const causes = (event.error_causes ?? []).map(({ type, message, traceback }) =>
    [`${type}: ${message}`, traceback].filter(Boolean).join('\n'),
  );
  const lines = [head.filter(Boolean).join(' '), ...causes].join('\n').split(/\r\n|\r|\n/);
  return `${lines.map((line, i) => (i === 0 ? line : `    ${line}`)).join('\n')}\n`;
}

/** Returns a file name that is valid on every operating system. */
export const fileNameOf = (parts: readonly (string | null | undefined)[]): string =>
  `${
    parts
      .filter(Boolean)
      .join('-')
      .replace(/[^\w.-]+/g, '_')
      .slice(0, 150) || 'log'
  }.log`;
