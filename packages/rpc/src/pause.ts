import { setTimeout as delay } from 'node:timers/promises';

/** Waits `ms`; rejects with the reason of `signal` when that aborts first. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    throw signal?.reason ?? error;
  }
}
