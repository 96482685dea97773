import { buildMessage, type Envelope, firstTaskReady, taskReady } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import type { ExecutionsClient } from '../adapters/executions.client';
import { type LeaseDeps, NO_PLACES, startLeases } from '../claim/leases';
import type { Slots } from '../claim/slots';

export interface TaskReadyDeps extends LeaseDeps {
  executions: Pick<ExecutionsClient, 'claim'>;
  publish: (envelopes: Envelope[]) => Promise<void>;
  isDraining: () => boolean;
  /** The most wake-ups of first operations that wait here while nothing is owed to their tenants; `prefetch` must be larger. */
  mostWaiting: number;
}

/** How long a wake-up waits here for a free slot, before another worker may have it. */
const HOLD_MS = 2_000;
/** One wake-up may fill this share (one in four) of the free slots with further operations of its execution. */
const EXTRA_SHARE = 4;

interface TaskReady {
  executionId: string;
  taskId: string;
  isWorkflow?: boolean | undefined;
}

/**
 * Handles a wake-up: claims, starts the leased operations, acknowledges (by returning). Crash before the claim: the broker
 * delivers the message again; after it: the lease runs out and the engine's reaper repairs. A task that is gone or taken is a
 * normal answer. A worker without a slot for the tenant puts the wake-up back to the end of the queue after a while, instead of
 * keeping it. A wake-up of a first operation, whose tenant is owed nothing, is put back at once when `mostWaiting` wait already,
 * so that wake-ups of other tenants get their turn.
 */
export function onTaskReady(
  deps: TaskReadyDeps,
): (envelope: Envelope<TaskReady>, signal: AbortSignal) => Promise<void> {
  let waiting = 0;
  const placeInTime = async (tenant: string, isFirst: boolean, signal: AbortSignal): Promise<boolean> => {
    if (deps.slots.takeSome(1, tenant) === 1) return true;
    if (!isFirst || deps.slots.isOwed(tenant)) return takeWithin(deps.slots, tenant, signal);
    if (waiting >= deps.mostWaiting) return false;
    waiting++;
    return takeWithin(deps.slots, tenant, signal).finally(() => waiting--);
  };
  return async (envelope, signal) => {
    const { executionId, taskId } = envelope.payload;
    const { tenant } = envelope;
    // A task that is being reported may be ready again already, when it waited for an execution that has ended meanwhile.
    if (deps.tasks.get(taskId)?.phase === 'running') return;
    if (envelope.payload.isWorkflow && !deps.isDraining()) return claimCode(deps, executionId, taskId);
    const isTaken = await placeInTime(tenant, envelope.type === firstTaskReady.type, signal);
    if (signal.aborted) return deps.slots.give(isTaken ? 1 : 0, tenant);
    if (!isTaken || deps.isDraining()) {
      deps.slots.give(isTaken ? 1 : 0, tenant);
      return deps.publish([putBack(deps, envelope)]);
    }
    const more = Math.floor(deps.slots.freeFor(tenant) / EXTRA_SHARE);
    const places = 1 + deps.slots.takeSome(more, tenant);
    const sentAt = deps.clock.monotonic();
    try {
      const leases = await deps.executions.claim(executionId, taskId, places);
      startLeases(deps, leases, { places, tenant }, sentAt);
    } catch (error) {
      deps.slots.give(places, tenant);
      throw error;
    }
  };
}

/** Returns the wake-up for another worker, or for later here: as a first one when its tenant is owed a slot. */
function putBack(deps: TaskReadyDeps, envelope: Envelope<TaskReady>): Envelope {
  const { tenant, key, traceparent } = envelope;
  const about = { tenant, key, traceparent, time: isoInstant(deps.clock.now()), causationId: envelope.id };
  return buildMessage(deps.slots.isOwed(tenant) ? firstTaskReady : taskReady, about, envelope.payload);
}

/** Claims workflow code. It needs no slot, so even a worker full of operations that wait for a nested workflow takes it. */
async function claimCode(deps: TaskReadyDeps, executionId: string, taskId: string): Promise<void> {
  const sentAt = deps.clock.monotonic();
  // When the code is taken already, the answer may be an operation of the execution: then one more than usual runs here.
  startLeases(deps, await deps.executions.claim(executionId, taskId, 1), NO_PLACES, sentAt);
}

async function takeWithin(slots: Slots, tenant: string, signal: AbortSignal): Promise<boolean> {
  const limit = new AbortController();
  const leave = (): void => limit.abort();
  const timer = setTimeout(leave, HOLD_MS);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await slots.take(limit.signal, tenant);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}
