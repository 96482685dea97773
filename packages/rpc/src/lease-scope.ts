import { AsyncLocalStorage } from 'node:async_hooks';

/** A lease whose proof is renewed while it is held. */
export interface HeldProof {
  readonly proof: string;
}

const scope = new AsyncLocalStorage<HeldProof>();

/**
 * Runs `work` for a lease: calls that it makes show the proof that the lease has at that moment. From the first use on,
 * each promise of the process costs more (`bench/BENCHMARKS.md`), so calls that every operation makes name their lease
 * (`CallOptions.lease`).
 */
export const withLease = <T>(lease: HeldProof, work: () => T): T => scope.run(lease, work);

/** The lease that runs here, for work that goes on elsewhere. */
export const currentLease = (): HeldProof | undefined => scope.getStore();

/** For a call that is made now: of the lease that its caller names, or else that runs here; empty outside of leases. */
export const leaseProof = (named?: HeldProof): string => (named ?? scope.getStore())?.proof ?? '';
