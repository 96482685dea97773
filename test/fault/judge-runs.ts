import type { EventRow, ExecutionRow, Say, TaskRow } from './judge';
import type { LedgerRun } from './ledger';

/** Nodes of the blueprint, each with its dependencies. */
const DEPENDS: Record<string, string[]> = {
  base: [],
  mid_a: ['base'],
  mid_b: ['base'],
  mid_c: ['base'],
  top_a: ['mid_a', 'mid_b', 'mid_c'],
  top_b: ['mid_a', 'mid_b', 'mid_c'],
  top_c: ['mid_a', 'mid_b', 'mid_c'],
  scripted: ['base'],
};
/** Operations of a node per workflow, in order. */
export const WORKFLOWS: Record<string, string[]> = {
  install: ['create', 'configure', 'start'],
  uninstall: ['stop', 'delete'],
};
/** Operations of the node with scripts. */
const SCRIPTED = new Set(['create', 'delete']);
/** Tolerance between the clocks of two processes on one machine. */
const SLACK_MS = 5;

/** An operation of a node in one execution. A retry of a failed operation may be another task of the same place. */
interface Place {
  name: string;
  workflow: string;
  node: string;
  operation: string;
  runs: LedgerRun[];
  /** Epoch ms of its task_succeeded event. */
  acceptedAt: number | null;
}

interface Seen {
  executions: readonly ExecutionRow[];
  tasks: readonly TaskRow[];
  runs: readonly LedgerRun[];
  events: ReadonlyMap<string, EventRow[]>;
}

/** Checks G4 and G5: events against the ledger. Returns the number of repeated runs. */
export function checkRuns(seen: Seen, victims: readonly number[] | null, say: Say): number {
  const { executions, tasks, runs, events } = seen;
  const byTask = new Map<string, LedgerRun[]>();
  for (const run of runs) byTask.set(run.task, [...(byTask.get(run.task) ?? []), run]);
  let repeats = 0;
  for (const task of tasks) {
    const own = byTask.get(task.id) ?? [];
    repeats += Math.max(0, own.length - 1);
    checkTask(task, own, say);
    // A process that had already died when its script looked up its pid has no valid number.
    for (const run of own.slice(0, -1))
      if (victims && run.pid > 1 && !victims.includes(run.pid))
        say(
          'G4',
          `${task.operation} of ${task.instance} (task ${task.id}) was repeated although its worker lived`,
        );
  }
  for (const { id, workflow_id: workflow } of executions) {
    const places = placesOf(
      workflow,
      tasks.filter((task) => task.execution_id === id),
      byTask,
      events.get(id)!,
    );
    for (const place of places.values()) checkPlace(place, places, say);
  }
  for (const execution of executions)
    if (isPlain(execution, executions)) checkWhole(execution, tasks, byTask, say);
  return repeats;
}

/** Whether the execution succeeded on a deployment that no cancel or failure has left in an intermediate state. */
function isPlain({ deployment_id }: ExecutionRow, executions: readonly ExecutionRow[]): boolean {
  return executions.every((one) => one.deployment_id !== deployment_id || one.status === 'terminated');
}

/**
 * Checks that a successful execution has run every operation of every node: an engine that skips an operation would end
 * successfully, too.
 */
function checkWhole(
  { id, workflow_id: workflow }: ExecutionRow,
  tasks: readonly TaskRow[],
  byTask: ReadonlyMap<string, LedgerRun[]>,
  say: Say,
): void {
  const own = tasks.filter((task) => task.execution_id === id);
  const ran = new Set<string>();
  for (const task of own)
    if (byTask.get(task.id)?.some(({ endedAt }) => endedAt !== null))
      ran.add(`${task.instance.replace(/_[^_]+$/, '')} ${task.operation.split('.').at(-1)}`);
  // Other blueprints have other nodes.
  if (!own.some(({ instance }) => instance.startsWith('base_'))) return;
  for (const node of Object.keys(DEPENDS))
    for (const operation of operationsOf(workflow, node))
      if (!ran.has(`${node} ${operation}`)) say('G4', `${id} succeeded without ${operation} of ${node}`);
}

function operationsOf(workflow: string, node: string): readonly string[] {
  const order = WORKFLOWS[workflow] ?? [];
  return node === 'scripted' ? order.filter((operation) => SCRIPTED.has(operation)) : order;
}

/** Checks that the accepted run ended according to the ledger, and that no run took place without a dispatch. */
function checkTask(task: TaskRow, own: readonly LedgerRun[], say: Say): void {
  const name = `${task.operation} of ${task.instance} (task ${task.id})`;
  if (own.length > task.attempt) say('G4', `${name} ran ${own.length} times in ${task.attempt} attempts`);
  if (task.state !== 'succeeded') return;
  const accepted = own.find((run) => run.run === task.result);
  if (!accepted?.endedAt)
    say('G4', `${name}: the accepted run ${String(task.result)} has no end in the ledger`);
}

function placesOf(
  workflow: string,
  tasks: readonly TaskRow[],
  byTask: ReadonlyMap<string, LedgerRun[]>,
  events: readonly EventRow[],
): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const task of tasks) {
    const node = task.instance.replace(/_[^_]+$/, '');
    const operation = task.operation.split('.').at(-1)!;
    // Nodes that others depend on have one instance each; of the other nodes, each instance is a place of its own.
    const key = `${DEPENDS[node] ? node : task.instance} ${operation}`;
    const runs = [...(places.get(key)?.runs ?? []), ...(byTask.get(task.id) ?? [])];
    const accepted = events.find(
      (event) =>
        event.event_type === 'task_succeeded' &&
        event.operation === task.operation &&
        event.node_instance_id === task.instance,
    );
    const name = `${operation} of ${task.instance} in ${task.execution_id}`;
    places.set(key, { name, workflow, node, operation, runs, acceptedAt: accepted?.at ?? null });
  }
  return places;
}

function checkPlace(place: Place, places: ReadonlyMap<string, Place>, say: Say): void {
  for (const run of place.runs) {
    const { acceptedAt } = place;
    if (acceptedAt !== null && run.startedAt > acceptedAt + SLACK_MS)
      say(
        'G4',
        `${place.name} began again ${Math.round(run.startedAt - acceptedAt)} ms after it was accepted`,
      );
    for (const before of earlierThan(place, places)) {
      const by = run.startedAt + SLACK_MS;
      const isAccepted = before.acceptedAt !== null && before.acceptedAt <= by;
      const hasEnded = before.runs.some((one) => one.endedAt !== null && one.endedAt <= by);
      if (!isAccepted || !hasEnded) say('G5', `${place.name} began before ${before.name} had ended`);
    }
  }
}

/**
 * Returns the places that must have succeeded before: the earlier operations of the node, and all operations of its neighbours on
 * that side.
 */
function earlierThan({ workflow, node, operation }: Place, places: ReadonlyMap<string, Place>): Place[] {
  const order = WORKFLOWS[workflow];
  if (!order) return [];
  const neighbours =
    workflow === 'install'
      ? (DEPENDS[node] ?? [])
      : Object.keys(DEPENDS).filter((other) => DEPENDS[other]!.includes(node));
  const own = order.slice(0, Math.max(0, order.indexOf(operation)));
  const keys = [
    ...own.map((earlier) => `${node} ${earlier}`),
    ...neighbours.flatMap((other) => order.map((each) => `${other} ${each}`)),
  ];
  return keys.flatMap((key) => places.get(key) ?? []);
}
