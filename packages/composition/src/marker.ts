import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@baton/kernel';
import type { InstanceContext } from '@baton/plugin-sdk';
import { objectIn, stateOf } from './state';

/** An execution that an operation has started, as its node instance remembers it. */
export interface Marker {
  id: string;
  workflow_id: string;
  /** The execution that the operation belongs to. */
  parent: string;
  /** The task that started it. */
  task: string;
  /** Milliseconds of the clock since which its end is waited for; null: nobody waits. */
  since: number | null;
  /** `told`: the operation has failed because of it; whoever runs it again has resumed the parent. */
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
 * What a run of an operation does about what is remembered: an execution of the same workflow for the same parent is
 * followed, also after a resume; one that the same task has seen end well is over.
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
 * What makes a start safe to repeat: the same for all looks of one task until the execution that it starts is remembered.
 * `before`: what is remembered.
 */
export function startKey(
  run: { workflowId: string; task: string; slot: string },
  before: Marker | null,
): string {
  const parts = [run.task, run.slot, run.workflowId, before?.id ?? 'first'];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** Seconds until the next look at something that runs for so long already: soon at first, then ever less often. */
export function lookAfter(waitedMs: number, intervalSeconds: number, mostSeconds: number): number {
  return Math.min(mostSeconds, Math.max(intervalSeconds, 1, Math.round(waitedMs / 10_000)));
}

/** Milliseconds that are left of a time limit in seconds; null: no limit. */
export function leftMs(since: number, now: number, timeoutSeconds: number): number | null {
  return timeoutSeconds === -1 ? null : since + timeoutSeconds * 1_000 - now;
}
