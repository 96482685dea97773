import type { Log } from '@baton/kernel';

/** Two renewals may fail before the lease ends. */
const RENEWALS = 3;

/** Somebody else has taken the work over. */
export class LeaseLost extends Error {}

/**
 * Runs `work` under a lease that this process has just taken, and renews it until the work has ended: so a lease can be
 * short, and work of a process that died is taken over soon. The signal aborts with `stopping`, and with `LeaseLost` once
 * `renew` answers false. A renewal that throws is tried again; when all do, the lease ends and the writes of `work`, which
 * name their owner, are refused.
 */
export async function underLease<T>(
  lease: {
    leaseMs: number;
    /** Prolongs it by `leaseMs`; false: it is somebody else's. */
    renew(): Promise<boolean>;
    stopping: AbortSignal;
    log: Log;
  },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  let renewing: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    try {
      if (!(await lease.renew())) lost.abort(new LeaseLost('somebody else has taken the work over'));
    } catch (err) {
      lease.log.debug({ err }, 'lease not renewed');
    }
  };
  const timer = setInterval(() => {
    renewing = renewing.then(renew);
  }, lease.leaseMs / RENEWALS);
  try {
    return await work(AbortSignal.any([lease.stopping, lost.signal]));
  } finally {
    clearInterval(timer);
    // None of ours may come behind the release.
    await renewing;
  }
}
