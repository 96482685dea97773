/** Reads the event stream of an execution into a window of lines. */
import { afterDelay } from '@baton/kernel';
import { useEffect, useState } from 'react';
import { useTenant } from '../api/api-context';
import { createOwnClient } from '../api/client';
import { type StreamState, watchStream } from '../live/watch-stream';
import { type LogSearch, logQuery } from './execution-search';
import { type LogLine, type LogWindow, lineOf, NO_LINES, withLines } from './log-window';

export interface Log {
  window: LogWindow;
  state: StreamState | 'ended';
  error: unknown;
}

/** Lines that arrive together are rendered together: at most ten times a second. */
const COMMIT_MS = 100;
const TAIL = 500;

/** Reads the log from its tail on. New filters restart it. The stream ends with the execution, or when the screen is left. */
export function useLog(executionId: string, search: LogSearch): Log {
  const tenant = useTenant();
  const [log, setLog] = useState<Log>({ window: NO_LINES, state: 'connecting', error: null });
  const filters = JSON.stringify(logQuery(search));
  useEffect(() => {
    const stop = new AbortController();
    const change = (part: Partial<Log>): void => {
      if (!stop.signal.aborted) setLog((before) => ({ ...before, ...part }));
    };
    setLog({ window: NO_LINES, state: 'connecting', error: null });
    let waiting: LogLine[] = [];
    let takeBack: (() => void) | null = null;
    const commit = (): void => {
      takeBack = null;
      const lines = waiting;
      waiting = [];
      if (!stop.signal.aborted && lines.length > 0)
        setLog((before) => ({ ...before, window: withLines(before.window, lines) }));
    };
    const read = async (): Promise<void> => {
      const client = createOwnClient({ tenant, watch: watchStream((state) => change({ state })) });
      const query = { execution_id: executionId, from: `tail:${TAIL}`, ...JSON.parse(filters) };
      for await (const { event, data, id } of client.events('streamEvents', query, { signal: stop.signal })) {
        if (event === 'end') break;
        if (event === 'window') change({ window: { lines: [], dropped: droppedBefore(data) } });
        else if (id !== null && event !== 'reset') {
          waiting.push(lineOf(id, data));
          takeBack ??= afterDelay(COMMIT_MS, commit);
        }
      }
      takeBack?.();
      commit();
      change({ state: 'ended' });
      stop.abort();
    };
    read().catch((error: unknown) => change({ error, state: 'ended' }));
    return () => {
      takeBack?.();
      stop.abort();
    };
  }, [executionId, tenant, filters]);
  return log;
}

/** Returns the number of matching lines before the window. */
function droppedBefore({ total }: { total?: number }): number {
  return Math.max(0, (total ?? 0) - TAIL);
}
