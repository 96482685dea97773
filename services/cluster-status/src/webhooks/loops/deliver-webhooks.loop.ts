import { newId } from '@baton/kernel';
import type { Loop } from '@baton/service-runtime';
import { type AttemptDeps, attemptDelivery } from '../commands/attempt-delivery';
import { leaseDue } from '../commands/lease-due';

const INTERVAL_MS = 2_000;

export interface WebhookDeliverer {
  loop: Loop;
  /** Looks for due deliveries now. */
  kick(): void;
  /** Resolves when no attempt of this process is under way. */
  idle(): Promise<void>;
  /** Ends attempts under way: their deliveries are given back. */
  stop(): Promise<void>;
}

interface Running {
  tenant: string;
  done: Promise<void>;
}

/**
 * Sends due deliveries, on every replica. A tick only leases and starts attempts: it does not wait for slow endpoints. A place that
 * becomes free looks for the next delivery.
 */
export function deliverWebhooks(deps: Omit<AttemptDeps, 'kick'>, instanceId: string): WebhookDeliverer {
  const stopping = new AbortController();
  const running = new Set<Running>();
  const look = oneAtATime(async () => {
    const owner = `${instanceId}/${newId()}`;
    const tenants = [...running].map(({ tenant }) => tenant);
    const leased = stopping.signal.aborted ? [] : await leaseDue(deps, owner, tenants);
    for (const delivery of leased) start(delivery, owner);
    return leased.length > 0;
  });
  const kick = (): void => {
    look.run().catch((err: unknown) => deps.log.warn({ err }, 'deliveries of webhooks wait'));
  };
  const start = (delivery: Parameters<typeof attemptDelivery>[1], owner: string): void => {
    const done = attemptDelivery({ ...deps, kick }, delivery, owner, stopping.signal).finally(() => {
      running.delete(one);
      if (!stopping.signal.aborted) kick();
    });
    const one: Running = { tenant: delivery.tenant, done };
    running.add(one);
  };
  const idle = async (): Promise<void> => {
    while (look.current() !== null || running.size > 0) {
      await look.current()?.catch(() => undefined);
      await Promise.all([...running].map(({ done }) => done));
    }
  };
  return {
    loop: { name: 'deliver-webhooks', intervalMs: INTERVAL_MS, tickOnce: look.run },
    kick,
    idle,
    stop: async () => {
      stopping.abort(new Error('the process stops'));
      await idle();
    },
  };
}

/** Repeats `work` until it finds nothing; a call meanwhile lets it look once more, and waits for the same end. */
function oneAtATime(work: () => Promise<boolean>) {
  let current: Promise<void> | null = null;
  let isAsked = false;
  const all = async (): Promise<void> => {
    do {
      isAsked = false;
      while (await work());
    } while (isAsked);
  };
  return {
    current: () => current,
    run: (): Promise<void> => {
      isAsked = true;
      // Not at once: the caller may be in the last lines of a look.
      current ??= Promise.resolve()
        .then(all)
        .finally(() => {
          current = null;
        });
      return current;
    },
  };
}
