import { AsyncLocalStorage } from 'node:async_hooks';

/** A lease whose proof is renewed while it is held. */
export interface HeldProof {
  readonly proof: string;
}

const scope = new AsyncLocalStorage<HeldProof>();

/**
 * Runs `work` for a lease: its calls show the proof that the lease has at the moment of the call. From the first use on, each
 * promise of the process costs more (`bench/BENCHMARKS.md`). So calls that every operation makes name their lease
 * (`CallOptions.lease`).
 */
export const withLease = <T>(lease: HeldProof, work: () => T): T => scope.run(lease, work);

/** Returns the current lease, for work that goes on elsewhere. */
export const currentLease = (): HeldProof | undefined => scope.getStore();

/** Returns the proof for a call made now: of the lease that the caller names, else of the current lease; empty without a lease. */
export const leaseProof = (named?: HeldProof): string => (named ?? scope.getStore())?.proof ?? '';
