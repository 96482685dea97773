import { PIECE, type Pieces, whole } from '@baton/kernel';
import type { FailureHandler, SubgraphPayload, SuccessHandler, TaskPolicy, TaskSpec } from '../task';

/** A graph under construction: tasks in order of creation, with edges that may still be added. */
export interface Draft {
  readonly tasks: DraftTask[];
  readonly isDryRun: boolean;
}

type Distribute<T> = T extends TaskSpec ? Omit<T, 'idx' | 'deps' | 'subgraph' | 'retryOf'> : never;
export type TaskBody = Distribute<TaskSpec>;

interface DraftTask {
  body: TaskBody;
  /** May contain a task twice. */
  deps: number[];
  subgraph: number | null;
  memberCount: number;
  /** True for a subgraph that is kept although it has no members. */
  isKept: boolean;
}

export function newDraft(isDryRun: boolean): Draft {
  return { tasks: [], isDryRun };
}

/** Adds a task to `subgraph` (null = the graph itself). Returns its number in the draft. */
export function addTask(draft: Draft, subgraph: number | null, body: TaskBody): number {
  draft.tasks.push({ body, deps: [], subgraph, memberCount: 0, isKept: false });
  if (subgraph !== null) draft.tasks[subgraph]!.memberCount++;
  return draft.tasks.length - 1;
}

export function addSubgraph(
  draft: Draft,
  parent: number | null,
  name: string,
  payload: SubgraphPayload,
  retry: { totalRetries: number; onFailure: FailureHandler | null; onSuccess?: SuccessHandler | null },
): number {
  const policy: TaskPolicy = { ...LOCAL_POLICY, sendTaskEvents: true, onSuccess: null, ...retry };
  return addTask(draft, parent, { kind: 'subgraph', type: 'SubgraphTask', name, payload, policy });
}

export const LOCAL_POLICY: TaskPolicy = {
  totalRetries: 0,
  retryIntervalMs: 0,
  onSuccess: null,
  onFailure: null,
  sendTaskEvents: false,
};

/** Keeps the subgraph even if it has no members. */
export function keepSubgraph(draft: Draft, subgraph: number): void {
  draft.tasks[subgraph]!.isKept = true;
}

/** Lets `task` start only after `on` has ended successfully. */
export function addDependency(draft: Draft, task: number, on: number): void {
  draft.tasks[task]!.deps.push(on);
}

/** Tasks in order; each link may be several parallel tasks. */
export interface Sequence {
  add(side: number[]): void;
}

export function sequence(draft: Draft): Sequence {
  let last: number[] = [];
  return {
    add(side) {
      if (side.length === 0) return;
      for (const task of side) for (const dep of last) addDependency(draft, task, dep);
      last = side;
    },
  };
}

/** Returns the members of `subgraph` that directly follow an operation named `operation`. */
export function followersOf(draft: Draft, subgraph: number, operation: string): number[] {
  const found: number[] = [];
  for (let i = subgraph + 1; i < draft.tasks.length; i++) {
    const task = draft.tasks[i]!;
    if (task.subgraph !== subgraph) continue;
    for (const dep of new Set(task.deps)) {
      const { body } = draft.tasks[dep]!;
      if (body.kind === 'operation' && body.payload.operation === operation) found.push(i);
    }
  }
  return found;
}

/**
 * Returns the draft as stored tasks, numbered from `from`. Subgraphs without members and, in a dry run, state changes
 * are left out; their dependents depend on their dependencies instead.
 */
export function finishDraft(draft: Draft, from = 0): TaskSpec[] {
  return whole(finishDraftInPieces(draft, from));
}

export function* finishDraftInPieces(draft: Draft, from = 0): Pieces<TaskSpec[]> {
  const { tasks } = draft;
  const isDropped = tasks.map((t) => isEmpty(draft, t));
  dropHollowSubgraphs(draft, isDropped);
  const place: number[] = [];
  let next = from;
  for (let i = 0; i < tasks.length; i++) place.push(isDropped[i] ? -1 : next++);
  const bridge = bridgeOf(draft, isDropped);
  const specs: TaskSpec[] = [];
  for (let i = 0; i < tasks.length; i++) {
    if (i % PIECE === 0) yield;
    if (isDropped[i]) continue;
    const { body, subgraph } = tasks[i]!;
    const { kind, type, name, key, payload, policy } = body;
    // Written out: a generic copy of the members would take most of the time for thousands of bodies.
    specs.push({
      kind,
      type,
      name,
      ...(key !== undefined && { key }),
      payload,
      policy,
      idx: place[i]!,
      deps: bridge(i).map((dep) => place[dep]!),
      subgraph: subgraph === null ? null : place[subgraph]!,
      retryOf: null,
    } as TaskSpec);
  }
  return specs;
}

function isEmpty(draft: Draft, task: DraftTask): boolean {
  if (task.body.kind === 'subgraph') return task.memberCount === 0 && !task.isKept;
  return draft.isDryRun && task.body.kind === 'set-state';
}

/** A subgraph that lost all its members is empty too. Goes from the inside out: members come after their subgraph. */
function dropHollowSubgraphs(draft: Draft, isDropped: boolean[]): void {
  const left = draft.tasks.map((t) => t.memberCount);
  for (let i = draft.tasks.length - 1; i >= 0; i--) {
    const task = draft.tasks[i]!;
    if (task.body.kind === 'subgraph' && left[i] === 0 && !task.isKept) isDropped[i] = true;
    if (isDropped[i] && task.subgraph !== null) left[task.subgraph]!--;
  }
}

/** Returns the dependencies of a task, each once; a dropped dependency is replaced by its own dependencies. */
function bridgeOf(draft: Draft, isDropped: boolean[]): (task: number) => readonly number[] {
  const known = new Map<number, readonly number[]>();
  const bridge = (task: number): readonly number[] => {
    const { deps } = draft.tasks[task]!;
    // The usual case: nothing to replace, and no duplicates possible.
    if (deps.length === 0 || (deps.length === 1 && !isDropped[deps[0]!])) return deps;
    const before = known.get(task);
    if (before) return before;
    const found = new Set<number>();
    known.set(task, []);
    for (const dep of deps) {
      if (isDropped[dep]) for (const further of bridge(dep)) found.add(further);
      else found.add(dep);
    }
    const all = [...found];
    known.set(task, all);
    return all;
  };
  return bridge;
}
