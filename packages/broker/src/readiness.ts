import { unavailable } from './unavailable';

/** Whether a connection is ready, for callers that wait for it. */
export interface Readiness {
  /** Waits for the connection. @throws AppError service_unavailable_error when it is not ready within `timeoutMs`, or is closed. */
  wait(timeoutMs: number): Promise<void>;
  set(isReady: boolean): void;
  /** Closes for ever: all waiting callers fail. */
  close(): void;
}

export function createReadiness(): Readiness {
  const waiting = new Set<() => void>();
  let state: 'away' | 'ready' | 'closed' = 'away';
  const change = (to: typeof state): void => {
    if (state === 'closed') return;
    state = to;
    if (state !== 'away') for (const call of [...waiting]) call();
  };
  return {
    set: (isReady) => change(isReady ? 'ready' : 'away'),
    close: () => change('closed'),
    wait: (timeoutMs) =>
      new Promise((resolve, reject) => {
        if (state === 'ready') return resolve();
        if (state === 'closed') return reject(unavailable('closed'));
        const done = (): void => {
          clearTimeout(late);
          waiting.delete(done);
          if (state === 'closed') reject(unavailable('closed'));
          else resolve();
        };
        const late = setTimeout(() => {
          waiting.delete(done);
          reject(unavailable('not connected'));
        }, timeoutMs);
        waiting.add(done);
      }),
  };
}
