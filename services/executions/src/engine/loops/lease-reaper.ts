import { systemClock } from '@baton/kernel';
import { newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { type GiveUpAgentsDeps, giveUpAgents } from '../commands/give-up-agents';
import { type Reaped, type ReapLeasesDeps, reapLeases } from '../commands/reap-leases';
import { leaseMs } from '../steps/task-writes';

type LeaseReaperDeps = Pick<Ports, 'db'> & ReapLeasesDeps;

/** After a longer pause between two looks, this process cannot know whether workers were silent or it could not hear them. */
const AWAY_MS = 5_000;
/** Within this time every living worker renews its leases or reports its outcomes: a third of a lease, plus the retry. */
export const REAP_GRACE_MS = leaseMs / 3 + 2_000;

/** After this time agents are back after a start of the manager: they come back within 30 s. */
const AGENTS_BACK_MS = 60_000;

interface ReaperDeps {
  reap: () => Promise<Reaped>;
  /** Time that is given to those who must be heard first; default: REAP_GRACE_MS. */
  graceMs?: number;
  /** @throws when the database does not answer. */
  ping: () => Promise<void>;
  /** Monotonic ms. */
  now: () => number;
}

/**
 * Returns the reaper's tick. After a start or a freeze of the process, or an outage of the database, all leases may have expired
 * although every worker lives: the workers could not renew them. So the tick then gives workers the time to report first.
 */
export function patientReaper({
  reap,
  ping,
  now,
  graceMs = REAP_GRACE_MS,
}: ReaperDeps): () => Promise<Reaped> {
  let lastLook = Number.NEGATIVE_INFINITY;
  let notBefore = 0;
  return async () => {
    if (now() - lastLook > AWAY_MS) notBefore = now() + graceMs;
    const isPatient = now() < notBefore;
    const reaped = isPatient ? { runs: 0 } : await reap();
    // A look that the database does not answer does not count: the patience begins anew with the next answered look.
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

/** Returns the tick that gives up waiting for agents. After a pause of this process it waits too: the agents come back first. */
export function agentWatch(deps: GiveUpAgentsDeps): () => Promise<Reaped> {
  const round = newRound();
  return patientReaper({
    reap: async () => ({ runs: await giveUpAgents(deps, round) }),
    ping: () => deps.db.ping(),
    now: () => systemClock.monotonic(),
    graceMs: AGENTS_BACK_MS,
  });
}
