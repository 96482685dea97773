import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after the time, or when the operation is stopped. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Milliseconds since 1970: a later run of the operation may be on another machine. */
export const nowMs = (): number => Math.round(performance.timeOrigin + performance.now());
