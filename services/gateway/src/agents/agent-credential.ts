/** The credential of an agent as a worker: a key pair of this gateway, one for each stream, and certificates that live for a minute. */
import type { Clock } from '@baton/kernel';
import { type CallerCredential, LIFE_S, newWorkerKey, workerTokens } from '@baton/trust';

export interface AgentCredential extends CallerCredential {
  /** From now on there is no token. */
  close(): void;
}

/** A certificate is renewed with the first call after this time. An agent that asks nothing costs nothing. */
const RENEW_AFTER_MS = (LIFE_S / 1.5) * 1000;
/** A certificate of this age is not used any more: its call might arrive too late. */
const UNUSED_AFTER_MS = (LIFE_S - 5) * 1000;
/** Delay of the next request after a failed one, while the present certificate is good. */
const AGAIN_MS = 2_000;

/** `certify`: registers this public key for the agent with executions, and returns the certificate. */
export function createAgentCredential(
  certify: (publicKey: string) => Promise<string>,
  clock: Clock,
): AgentCredential {
  const key = newWorkerKey();
  let tokens: CallerCredential['tokenFor'] | null = null;
  let certifiedMs = Number.NEGATIVE_INFINITY;
  let renewAtMs = 0;
  let renewing: Promise<void> | null = null;
  let isClosed = false;
  const renew = async (): Promise<void> => {
    try {
      const askedMs = clock.monotonic();
      const certificate = await certify(key.publicKey);
      tokens = workerTokens(key, certificate, clock);
      certifiedMs = askedMs;
      renewAtMs = askedMs + RENEW_AFTER_MS;
    } catch (error) {
      renewAtMs = clock.monotonic() + AGAIN_MS;
      throw error;
    } finally {
      renewing = null;
    }
  };
  const renewed = (): Promise<void> => (renewing ??= renew());
  return {
    tokenFor(audience) {
      const nowMs = clock.monotonic();
      if (isClosed || !tokens || nowMs - certifiedMs >= UNUSED_AFTER_MS) return null;
      // A failure is met by the call that finds no good certificate any more.
      if (nowMs >= renewAtMs && !renewing) renewed().catch(() => undefined);
      return tokens(audience);
    },
    ready: async () => {
      if (!isClosed) await renewed();
    },
    close() {
      isClosed = true;
      tokens = null;
    },
  };
}
