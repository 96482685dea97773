/** Decides which executions are stuck, and selects the most important reason. */
import type { WaitReason } from '../api/answers';

/** Reasons of an execution that still makes progress. After `LONG_MS` they do not count as progress any more. */
const PASSING = new Set(['planning', 'lease', 'effects', 'call', 'nested', 'handlers']);
const LONG_MS = 10 * 60_000;

/** Returns the first reason of a stuck execution; null when it makes progress or has no reasons. */
export function stuckReason(reasons: readonly WaitReason[], nowMs: number): WaitReason | null {
  const isPassing = ({ kind, since }: WaitReason): boolean =>
    PASSING.has(kind) && (since === null || nowMs - Date.parse(since) < LONG_MS);
  return reasons.some(isPassing) ? null : (reasons[0] ?? null);
}
