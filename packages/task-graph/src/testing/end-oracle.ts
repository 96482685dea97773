import type { GraphEvent, GraphFlags, GraphOutcome } from '../decision';
import { graphFromRows, isAtWorker, isCounted, isInOver, isTerminal, isWorkflowCode } from '../graph';
import type { TaskRow } from '../task';

/** An ended graph, with the knowledge of its driver. */
export interface EndedGraph {
  rows: readonly TaskRow[];
  flags: GraphFlags;
  outcome: GraphOutcome;
  /** Events of this graph since its begin or resume, in order. */
  events: readonly GraphEvent[];
  counters: { total: number; finished: number };
  /** Runs that were handed out and have not reported back: `idx/attempt`. */
  running: ReadonlySet<string>;
  now: number;
}

const ENDS = new Set(['task_succeeded', 'task_failed', 'task_rescheduled']);
const TASK_EVENTS = new Set([...ENDS, 'sending_task', 'task_started']);
/** Whether workflow code dropped the task before it started. */
const isDropped = (row: TaskRow) => row.error?.type === 'NotStarted';

/**
 * Checks the promises to users about an ended graph: no task is shown as running that nothing runs, progress is
 * complete after a success, each begun task has an end, and retries keep to their limit. @throws Error that names the
 * broken promise.
 */
export function checkEnded(end: EndedGraph): void {
  checkRunning(end);
  checkCounters(end);
  checkEvents(end);
  for (const row of end.rows) checkRetries(end.rows, row);
  if (end.outcome.kind === 'succeeded' && !hasCode(end)) checkSucceeded(end);
}

const hasCode = ({ rows }: EndedGraph) => rows[0] !== undefined && isWorkflowCode(rows[0]);

function checkRunning({ rows, running, outcome, flags, now }: EndedGraph): void {
  const graph = graphFromRows({ name: 'g', waitAfterFailMs: 0, dryRun: false }, rows, flags);
  const wasCut = outcome.kind === 'cancelled' || (flags.deadline !== null && now >= flags.deadline);
  for (const node of graph.nodes) {
    const { idx, kind } = node.spec;
    if (node.state === 'sent' || node.state === 'sending') throw new Error(`${idx} is ${node.state}`);
    if (isAtWorker(node) && !running.has(`${idx}/${node.attempt}`))
      throw new Error(`${idx} is started, and nobody runs attempt ${node.attempt}`);
    // Cut off in the middle; with code also a subgraph that the code did not wait for.
    if (kind === 'subgraph' && node.state === 'started' && !wasCut && !graph.hasCode)
      throw new Error(`the subgraph ${idx} is started in a graph that ${outcome.kind}`);
    if (kind === 'subgraph' && node.state === 'started' && graph.hasCode && node.error !== null)
      if (node.runningInside === 0) throw new Error(`the subgraph ${idx} is failing, and nothing runs in it`);
  }
}

function checkCounters({ rows, counters }: EndedGraph): void {
  const fresh = graphFromRows({ name: 'g', waitAfterFailMs: 0, dryRun: false }, rows, {
    started: true,
    cancel: null,
    failures: [],
    deadline: null,
    ended: null,
  });
  const { total, finished } = fresh;
  if (total !== counters.total || finished !== counters.finished)
    throw new Error(`counted ${JSON.stringify(counters)}, the rows say ${finished} of ${total}`);
  if (finished > total) throw new Error(`${finished} of ${total} are finished`);
}

function checkSucceeded({ rows, flags, counters }: EndedGraph): void {
  if (counters.total !== counters.finished)
    throw new Error(`succeeded with ${counters.finished} of ${counters.total} finished`);
  const { nodes } = graphFromRows({ name: 'g', waitAfterFailMs: 0, dryRun: false }, rows, flags);
  const left = nodes.find((node) => !isTerminal(node.state) && !isInOver(nodes, node));
  if (left) throw new Error(`succeeded with ${left.spec.idx} ${left.state}`);
}

/** Each begun task has ended once, or is still open; each ended task has its event. */
function checkEvents({ rows, events }: EndedGraph): void {
  const told = new Map<number, string[]>();
  for (const { idx, type } of events)
    if (TASK_EVENTS.has(type)) told.set(idx, [...(told.get(idx) ?? []), type]);
  for (const row of rows) {
    const types = told.get(row.idx) ?? [];
    const ends = types.filter((type) => ENDS.has(type));
    if (ends.length > 1) throw new Error(`${row.idx} ended ${ends.length} times: ${types.join()}`);
    const isOver = isTerminal(row.state);
    if (ends.length === 1 && !isOver) throw new Error(`${row.idx} is ${row.state} after its ${ends[0]}`);
    if (ends.length === 1 && !ENDS.has(types.at(-1)!)) throw new Error(`${row.idx} goes on: ${types.join()}`);
    if (isOver && types.includes('task_started') && ends.length === 0)
      throw new Error(`${row.idx} began and is ${row.state}, and nobody said so`);
    if (types.length > 0 && !isCounted(row)) throw new Error(`${row.idx} has events`);
    if (isDropped(row) && types.includes('task_started'))
      throw new Error(`${row.idx} was dropped as not started, and had begun`);
  }
}

function checkRetries(rows: readonly TaskRow[], row: TaskRow): void {
  const { totalRetries, onSuccess, onFailure } = row.policy;
  let chain = 0;
  for (let at = row; at.retryOf !== null; at = rows[at.retryOf]!) chain++;
  if (chain < row.retries) throw new Error(`${row.idx} counts ${row.retries} retries, there are ${chain}`);
  // Code may exceed the limit, and `repeat-until-truthy` has no limit.
  const isUnlimited = [onSuccess?.handler, onFailure?.handler].includes('ask-code');
  if (totalRetries < 0 || isUnlimited || onSuccess?.handler === 'repeat-until-truthy') return;
  if (row.retries > totalRetries) throw new Error(`${row.idx} is retry ${row.retries} of ${totalRetries}`);
}
