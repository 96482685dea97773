export interface BackoffPolicy {
  firstMs: number;
  maxMs: number;
  factor: number;
  /** Share of the delay that is random, 0 to 1. */
  jitter: number;
}

const defaultBackoff: BackoffPolicy = { firstMs: 100, maxMs: 15_000, factor: 2, jitter: 0.3 };

/** Delay in ms before try number `attempt` (1 = the first retry). `random` is in 0..1. */
export function backoffMs(
  attempt: number,
  policy: BackoffPolicy = defaultBackoff,
  random = Math.random(),
): number {
  const full = Math.min(policy.maxMs, policy.firstMs * policy.factor ** Math.max(0, attempt - 1));
  return Math.round(full * (1 - policy.jitter * random));
}
