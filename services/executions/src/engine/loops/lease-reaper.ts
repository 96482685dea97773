import { systemClock } from '@baton/kernel';
import { newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { type Reaped, type ReapLeasesDeps, reapLeases } from '../commands/reap-leases';
import { leaseMs } from '../steps/task-writes';

type LeaseReaperDeps = Pick<Ports, 'db'> & ReapLeasesDeps;

/** A pause between two looks after which this process cannot know whether the workers were silent, or it was deaf. */
const AWAY_MS = 5_000;
/** Within this time every living worker has renewed its leases or told its outcomes: a third of a lease, and its retry. */
export const REAP_GRACE_MS = leaseMs / 3 + 2_000;

interface ReaperDeps {
  reap: () => Promise<Reaped>;
  /** @throws when the database does not answer. */
  ping: () => Promise<void>;
  /** Monotonic ms. */
  now: () => number;
}

/**
 * The reaper's tick. After a start of the process, a freeze of it, or an outage of the database all leases may have run
 * out although every worker lives: nobody was there to renew them. So it first gives workers the time to be heard.
 */
export function patientReaper({ reap, ping, now }: ReaperDeps): () => Promise<Reaped> {
  let lastLook = Number.NEGATIVE_INFINITY;
  let notBefore = 0;
  return async () => {
    if (now() - lastLook > AWAY_MS) notBefore = now() + REAP_GRACE_MS;
    const isPatient = now() < notBefore;
    const reaped = isPatient ? { runs: 0 } : await reap();
    // Without an answer the look does not count: the patience begins anew with the next one that has.
    if (isPatient) await ping();
    lastLook = now();
    return reaped;
  };
}

export function leaseReaper(deps: LeaseReaperDeps): () => Promise<Reaped> {
  const round = newRound();
  return patientReaper({
    reap: () => reapLeases(deps, round),
    ping: () => deps.db.ping(),
    now: () => systemClock.monotonic(),
  });
}
