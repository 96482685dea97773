/** Reads the audit log again when the event stream reports a new entry. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTenant } from '../../api/api-context';
import { AUDIT } from '../../api/audit';
import { createOwnClient } from '../../api/client';
import { createRefresher } from '../../live/apply-changes';
import { type StreamState, watchStream } from '../../live/watch-stream';
import { type AuditSearch, streamQuery } from './audit-search';

/** Minimum time between two reads: entries that arrive together are read together. */
const AGAIN_MS = 2_000;

export type TailState = StreamState | 'paused' | 'ended';

/** Returns the state of the stream; `paused` when the log has an end time, because no new entries can appear in it. */
export function useAuditTail(search: AuditSearch): TailState {
  const tenant = useTenant();
  const cache = useQueryClient();
  const [state, setState] = useState<TailState>('connecting');
  const hasEnd = search.before !== undefined;
  const query = JSON.stringify(streamQuery(search));
  useEffect(() => {
    if (hasEnd) {
      setState('paused');
      return;
    }
    const stop = new AbortController();
    const refresh = createRefresher(cache);
    const become = (next: TailState): void => {
      if (!stop.signal.aborted) setState(next);
    };
    const read = async (): Promise<void> => {
      const client = createOwnClient({ tenant, watch: watchStream(become) });
      for await (const _entry of client.events('streamAudit', JSON.parse(query), { signal: stop.signal }))
        refresh([AUDIT, tenant], AGAIN_MS);
      become('ended');
    };
    // The list itself shows the error.
    read().catch(() => become('ended'));
    return () => stop.abort();
  }, [tenant, cache, query, hasEnd]);
  return state;
}
