import type { Log } from '@baton/kernel';

/** Two renewals may fail before the lease ends. */
const RENEWALS = 3;

/** Another process has taken the work over. */
export class LeaseLost extends Error {}

/**
 * Runs `work` under a lease that this process has just taken, and renews the lease until the work has ended. So a lease can be
 * short, and the work of a dead process is taken over soon. The signal aborts with `stopping`, and with `LeaseLost` once `renew`
 * returns false. A renewal that throws is tried again. When all renewals throw, the lease ends, and the writes of `work`, which
 * name their owner, are refused.
 */
export async function underLease<T>(
  lease: {
    leaseMs: number;
    /** Extends the lease by `leaseMs`; false: another process has it. */
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
    // No renewal may come after the release of the lease.
    await renewing;
  }
}
