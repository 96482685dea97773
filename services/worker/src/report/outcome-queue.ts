import type { executionsRpc } from '@baton/contracts';
import { backoffMs } from '@baton/kernel';
import type { HeldTask } from '../claim/held-task';

export interface OutcomeItem {
  task: HeldTask;
  outcome: executionsRpc.TaskOutcome;
}

/**
 * Outcomes that wait to be reported, by execution. Outcomes of one execution are under way in at most one call. Times are
 * monotonic ms.
 */
export interface OutcomeQueue {
  add(item: OutcomeItem): void;
  /** Removes the outcome of a task; false when none waits, or it is under way already. */
  remove(task: HeldTask): boolean;
  /** Returns the executions to report now, one group per call, at most `maxCalls` groups. */
  groupsDue(now: number, maxCalls: number): string[][];
  /** Returns the time when the next postponed execution is due; null when none is postponed. */
  nextDueAt(now: number): number | null;
  /** Marks the executions as under way and returns the outcomes to report. */
  take(executionIds: readonly string[]): OutcomeItem[];
  /** Removes `items`: the engine has answered all of them. */
  answered(executionIds: readonly string[], items: readonly OutcomeItem[]): void;
  /** Handles a call without an answer: all its outcomes are reported again later. */
  failed(executionIds: readonly string[], now: number): void;
}

const MAX_OUTCOMES = 256;
/**
 * As many executions as share a statement of the engine. A separate call costs as much as ten more executions in a call that is
 * sent anyway.
 */
const MAX_EXECUTIONS = 64;
/** The most characters of results and errors in one call; even in the longest encoding, they fit into a call. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const RETRY = { firstMs: 100, maxMs: 3_000, factor: 2, jitter: 0.3 };

interface Waiting {
  items: OutcomeItem[];
  isInFlight: boolean;
  failures: number;
  /** Monotonic ms; the execution is not sent again before. */
  notBefore: number;
}

export function createOutcomeQueue(): OutcomeQueue {
  const queue = new Map<string, Waiting>();
  const landed = (executionIds: readonly string[], change: (waiting: Waiting) => void): void => {
    for (const id of executionIds) {
      const waiting = queue.get(id) as Waiting;
      waiting.isInFlight = false;
      change(waiting);
      if (waiting.items.length === 0) queue.delete(id);
    }
  };
  return {
    add: (item) => {
      const waiting = queue.get(item.task.executionId);
      if (waiting) waiting.items.push(item);
      else queue.set(item.task.executionId, { items: [item], isInFlight: false, failures: 0, notBefore: 0 });
    },
    remove: (task) => {
      const waiting = queue.get(task.executionId);
      if (!waiting || waiting.isInFlight || !waiting.items.some((item) => item.task === task)) return false;
      waiting.items = waiting.items.filter((item) => item.task !== task);
      if (waiting.items.length === 0) queue.delete(task.executionId);
      return true;
    },
    groupsDue: (now, maxCalls) => groupsOf(queue, now, maxCalls),
    nextDueAt: (now) => {
      const later = [...queue.values()].filter((w) => isIdle(w) && w.notBefore > now);
      return later.length > 0 ? Math.min(...later.map((w) => w.notBefore)) : null;
    },
    take: (executionIds) => takeOf(queue, executionIds),
    answered: (executionIds, items) => {
      const sent = new Set(items);
      landed(executionIds, (waiting) => {
        waiting.items = waiting.items.filter((item) => !sent.has(item));
        waiting.failures = 0;
        waiting.notBefore = 0;
      });
    },
    failed: (executionIds, now) =>
      landed(executionIds, (waiting) => {
        waiting.failures++;
        waiting.notBefore = now + backoffMs(waiting.failures, RETRY);
      }),
  };
}

const isIdle = (waiting: Waiting): boolean => !waiting.isInFlight && waiting.items.length > 0;

/**
 * Groups executions that fit into one call. A group is of one tenant, because the room offered with the call is for operations of
 * that tenant. Outcomes that arrive while a call is under way go with the next one. An execution that failed before is sent
 * alone, so that it cannot hold up others for good.
 */
function groupsOf(queue: ReadonlyMap<string, Waiting>, now: number, maxCalls: number): string[][] {
  const due = [...queue].filter(([, w]) => isIdle(w) && w.notBefore <= now);
  const groups = due.filter(([, w]) => w.failures > 0).map(([id]) => [id]);
  const open = new Map<string, { ids: string[]; characters: number }>();
  for (const [id, { items, failures }] of due) {
    if (failures > 0) continue;
    const { tenant } = items[0]!.task.assignment;
    const size = sizeOf(items[0]!);
    let together = open.get(tenant);
    if (!together || together.ids.length === MAX_EXECUTIONS || together.characters + size > MAX_CHARACTERS) {
      together = { ids: [], characters: 0 };
      open.set(tenant, together);
      groups.push(together.ids);
    }
    together.ids.push(id);
    together.characters += size;
  }
  return groups.slice(0, maxCalls);
}

const sizeOf = ({ outcome }: OutcomeItem): number => outcome.resultJson.length + outcome.errorJson.length;

/**
 * Takes the first outcome of each execution (without it, the execution would look as if it had been reported), and more of each
 * while there is room.
 */
function takeOf(queue: ReadonlyMap<string, Waiting>, executionIds: readonly string[]): OutcomeItem[] {
  const waiting = executionIds.map((id) => queue.get(id) as Waiting);
  let outcomes = MAX_OUTCOMES - waiting.length;
  let characters = waiting.reduce((left, { items }) => left - sizeOf(items[0]!), MAX_CHARACTERS);
  return waiting.flatMap((one) => {
    one.isInFlight = true;
    const taken = [one.items[0]!];
    for (const item of one.items.slice(1)) {
      outcomes--;
      characters -= sizeOf(item);
      if (outcomes < 0 || characters < 0) break;
      taken.push(item);
    }
    return taken;
  });
}
