import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@baton/kernel';
import type { InstanceContext } from '@baton/plugin-sdk';
import { objectIn, stateOf } from './state';

/** An execution that an operation has started, as stored with its node instance. */
export interface Marker {
  id: string;
  workflow_id: string;
  /** The execution that contains the operation. */
  parent: string;
  /** The task that started it. */
  task: string;
  /** Clock time in ms since which the operation waits for the end; null: it does not wait. */
  since: number | null;
  /** `told`: the operation has failed because of this execution; a later run of the operation means that the parent was resumed. */
  state: 'waiting' | 'told' | 'done';
}

export type Next = 'start' | 'follow' | 'over';

export function readMarker(instance: InstanceContext, slot: string): Marker | null {
  const found = objectIn(stateOf(instance), 'executions')[slot];
  return isJsonObject(found) && typeof found.id === 'string' ? (found as unknown as Marker) : null;
}

export function writeMarker(instance: InstanceContext, slot: string, marker: Marker): void {
  objectIn(stateOf(instance), 'executions')[slot] = marker as unknown as JsonObject;
}

/**
 * Decides how a run of an operation continues from the stored marker. An execution of the same workflow for the same
 * parent is followed, also after a resume. An execution that ended successfully for the same task is over.
 */
export function nextOf(
  marker: Marker | null,
  run: { workflowId: string; parent: string; task: string },
): Next {
  if (!marker || marker.workflow_id !== run.workflowId || marker.parent !== run.parent) return 'start';
  if (marker.state !== 'done') return 'follow';
  return marker.task === run.task ? 'over' : 'start';
}

/**
 * Returns the idempotency key of a start. The key is the same for all runs of one task until the started execution is
 * stored. `before`: the stored marker.
 */
export function startKey(
  run: { workflowId: string; task: string; slot: string },
  before: Marker | null,
): string {
  const parts = [run.task, run.slot, run.workflowId, before?.id ?? 'first'];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** Returns the seconds until the next check of a running execution: short at first, then ever longer. */
export function lookAfter(waitedMs: number, intervalSeconds: number, mostSeconds: number): number {
  return Math.min(mostSeconds, Math.max(intervalSeconds, 1, Math.round(waitedMs / 10_000)));
}

/** Returns the milliseconds left of a time limit in seconds; null: no limit. */
export function leftMs(since: number, now: number, timeoutSeconds: number): number | null {
  return timeoutSeconds === -1 ? null : since + timeoutSeconds * 1_000 - now;
}
