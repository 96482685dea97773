/** Reads all events of an execution, page by page. */
import type { Client } from '@baton/client';
import { type StoredEvent, textOfEvent } from './event-text';

const PAGE = 1_000;
const FIELDS = [
  'reported_timestamp',
  'level',
  'event_type',
  'message',
  'node_instance_id',
  'source_id',
  'operation',
  'error_causes',
];

export interface LogReading {
  tenant: string;
  executionId: string;
  signal: AbortSignal;
  /** Receives the number of lines read so far. */
  onCount: (count: number) => void;
}

/** Returns the log as blobs, one per page, so that the browser can keep them outside of its memory. @throws ApiError */
export async function readLog(client: Client, o: LogReading): Promise<Blob[]> {
  const parts: Blob[] = [];
  for (let count = 0; ; ) {
    const { items } = await client.call('listEvents', {
      tenant: o.tenant,
      signal: o.signal,
      query: {
        execution_id: o.executionId,
        _include: FIELDS.join(','),
        _sort: ['timestamp', '_storage_id'],
        _size: PAGE,
        _offset: count,
      },
    });
    parts.push(new Blob([items.map((event) => textOfEvent(event as StoredEvent)).join('')]));
    count += items.length;
    o.onCount(count);
    if (items.length < PAGE) return parts;
  }
}
