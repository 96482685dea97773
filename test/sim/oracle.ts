import {
  type ExecutionStatus,
  executionMachine,
  freshFlags,
  type GraphState,
  graphFromRows,
  type TaskRow,
} from '@baton/task-graph';
import type { ExecutionRow } from './store';
import type { LedgerEntry } from './worker';

/** Checks that must hold for every commit and at the end (the promises G2 to G7 of the reference). Breaches are texts. */
export interface Oracle {
  breaches: string[];
  /** The outcome of each attempt whose outcome was accepted. */
  accepted: ReadonlyMap<string, string>;
  /** `isResume`: the commit resumes an ended execution. */
  onCommit(before: Observed | null, after: Observed, isResume?: boolean): void;
  checkMemory(row: Observed, graph: GraphState): void;
  atEnd(executions: Iterable<Observed>, ledger: readonly LedgerEntry[]): void;
}

/** The observed parts of an execution. */
export type Observed = Pick<
  ExecutionRow,
  'id' | 'status' | 'head' | 'rows' | 'flags' | 'stage' | 'history' | 'error'
> & {
  events: readonly { seq: number; type: string }[];
  /** Number of resumes, for executions without an event for them. */
  resumes?: number;
};

const ENDINGS = ['workflow_succeeded', 'workflow_failed', 'workflow_cancelled'];
const ENDED = new Set(['succeeded', 'failed', 'rescheduled']);

export function newOracle(): Oracle {
  const breaches: string[] = [];
  const say = (row: Observed, text: string) => void breaches.push(`${row.id}: ${text}`);
  const accepted = new Map<string, string>();
  return {
    breaches,
    accepted,
    onCommit(before, after, isResume = before?.status === 'pending') {
      checkStatus(before, after, isResume, say);
      if (!before || before.head?.name !== after.head?.name || before.rows === after.rows) return;
      checkTasks(before, after, { accepted, isResume }, say);
    },
    checkMemory(row, graph) {
      if (!row.head || graph.name !== row.head.name) return;
      const rebuilt = graphFromRows(row.head, row.rows, row.flags!);
      const [a, b] = [summary(graph), summary(rebuilt)];
      if (a !== b) say(row, `memory and rows differ: ${a} / ${b}`);
    },
    atEnd(executions, ledger) {
      for (const row of executions) checkEnd(row, say);
      checkLedger(ledger, accepted, breaches);
    },
  };
}

function checkStatus(
  before: Observed | null,
  after: Observed,
  isResume: boolean,
  say: (row: Observed, text: string) => void,
): void {
  const from = (before?.status ?? 'pending') as ExecutionStatus;
  if (executionMachine.isTerminal(from) && after.status !== from && after.status !== 'pending' && !isResume) {
    say(after, `status ${from} was left for ${after.status}`);
  }
  if (after.events.some((e, i) => e.seq !== i + 1)) say(after, 'the events have a gap');
  // The deployments of the simulation have no cycles.
  if (after.error !== before?.error && after.error?.includes('wait for each other')) say(after, after.error);
}

function checkTasks(
  before: Observed,
  after: Observed,
  { accepted, isResume }: { accepted: Map<string, string>; isResume: boolean },
  say: (row: Observed, text: string) => void,
): void {
  for (const row of after.rows) {
    const old = before.rows[row.idx];
    if (old === row || row.kind !== 'operation') continue;
    if (old && ENDED.has(old.state) && old.state !== row.state && !isResume)
      say(after, `task ${row.idx} left ${old.state}`);
    if (row.state === 'sent' && (!old || old.attempt !== row.attempt))
      checkDispatch(before, after, row, isResume, say);
    if (row.state === 'started' && old?.state !== 'started' && after.status !== 'started')
      say(after, `task ${row.idx} was begun while ${after.status}`);
    const isEnd =
      (ENDED.has(row.state) || row.state === 'response-sent') &&
      old &&
      !ENDED.has(old.state) &&
      old.state !== 'response-sent';
    if (!isEnd) continue;
    // An execution whose resume is refused is `started` for a moment, with the graph in its stopped state.
    if (row.error?.message === KILLED && after.status === 'started' && after.flags?.cancel === null)
      say(after, `task ${row.idx} failed by a kill for a cancel that was taken back`);
    const of = attemptOf(row);
    if (of !== undefined && of !== row.attempt)
      say(after, `task ${row.idx} took the result of attempt ${of} in attempt ${row.attempt}`);
    const key = `${after.id} ${after.head!.name} ${row.idx} ${row.attempt}`;
    if (accepted.has(key)) say(after, `a second outcome of ${key}`);
    // The engine failed the task because its worker was lost: there is no run to report it.
    if (row.error?.type !== 'WorkerLost') accepted.set(key, row.state);
  }
}

/** The engine's error message of a killed operation. */
const KILLED = 'the operation failed without a message';

/** Returns the attempt that an outcome claims to belong to; undefined when it contains none. */
function attemptOf({ result, error }: TaskRow): number | undefined {
  const said = /^boom in attempt (\d+)$/.exec(error?.message ?? '')?.[1];
  return said === undefined ? (result as { ofAttempt?: number } | null)?.ofAttempt : Number(said);
}

/** Checks a dispatch: dependencies have ended, the execution is not being cancelled, and no attempt number is reused. */
function checkDispatch(
  before: Observed,
  after: Observed,
  row: TaskRow,
  isResume: boolean,
  say: (row: Observed, text: string) => void,
): void {
  if (after.status !== 'started') say(after, `task ${row.idx} was dispatched while ${after.status}`);
  if ((before.rows[row.idx]?.attempt ?? 0) + 1 !== row.attempt)
    say(after, `task ${row.idx} skipped to attempt ${row.attempt}`);
  const old = before.rows[row.idx];
  const isWoken = isResume || old?.deferral?.untilExecution != null;
  // By the service's clock; the model's clock starts at 0.
  if (old?.notBefore != null && old.notBefore > Date.now() && !isWoken)
    say(after, `task ${row.idx} was dispatched before its time`);
  const graph = graphFromRows(after.head!, after.rows, freshFlags());
  const pending = { ...row, state: 'pending' as const };
  const rows = after.rows.map((r) => (r.idx === row.idx ? pending : r));
  const asPending = graphFromRows(after.head!, rows, freshFlags()).nodes[row.idx]!;
  if (asPending.blockers !== 0)
    say(after, `task ${row.idx} was dispatched with ${asPending.blockers} dependencies open`);
  if (graph.active < 1) say(after, 'a dispatched task does not count as active');
  const replaced = replacedAround(after.rows, row);
  const overlap = after.rows.find((r) => r.state === 'started' && isInside(after.rows, r, replaced));
  if (overlap)
    say(after, `task ${row.idx} of a re-run was dispatched while ${overlap.idx} of the run before it runs`);
}

/** Returns the subgraph whose re-run contains this task, or null. */
function replacedAround(rows: readonly TaskRow[], row: TaskRow): number | null {
  for (let up = row.subgraph; up !== null; up = rows[up]!.subgraph) {
    if (rows[up]!.retryOf !== null) return rows[up]!.retryOf;
  }
  return null;
}

function isInside(rows: readonly TaskRow[], row: TaskRow, subgraph: number | null): boolean {
  if (row.kind !== 'operation' || subgraph === null) return false;
  for (let up = row.subgraph; up !== null; up = rows[up]!.subgraph) if (up === subgraph) return true;
  return false;
}

/** Returns the state that a step depends on, as one text. */
function summary(graph: GraphState): string {
  const { total, finished, openTop, active, waiting, nodes } = graph;
  const open = nodes.filter((n) => n.state === 'pending' || n.state === 'started');
  // The blocker count of a task that will never start is neither maintained nor needed.
  const details = open.map(
    (n) =>
      `${n.spec.idx}${n.state}${isDead(graph, n.spec.idx) ? '' : `:${n.blockers}:${n.openMembers}:${n.runningInside}`}`,
  );
  return JSON.stringify({ total, finished, openTop, active, waiting, details });
}

function isDead(graph: GraphState, idx: number): boolean {
  for (let up = graph.nodes[idx]!.spec.subgraph; up !== null; up = graph.nodes[up]!.spec.subgraph) {
    if (graph.nodes[up]!.error !== null) return true;
  }
  return false;
}

function checkEnd(row: Observed, say: (row: Observed, text: string) => void): void {
  if (!executionMachine.isTerminal(row.status as ExecutionStatus))
    say(
      row,
      `never ended: ${row.status}, stage ${row.stage?.name}, history ${JSON.stringify(row.history)}, events ${JSON.stringify(row.events.slice(-4))}, flags ${JSON.stringify(row.flags)}`,
    );
  for (const { idx, state } of row.rows)
    if (state === 'sent') say(row, `task ${idx} is sent after the end, and nobody runs it`);
  const lives = 1 + (row.resumes ?? row.events.filter((e) => e.type === 'resume_requested').length);
  const ends = row.events.filter((e) => ENDINGS.includes(e.type)).length;
  if (ends !== lives) say(row, `${lives} lives and ${ends} ends`);
}

/** Checks that each attempt ran at one worker, once, and that every accepted outcome belongs to a run that took place. */
function checkLedger(
  ledger: readonly LedgerEntry[],
  accepted: ReadonlyMap<string, string>,
  breaches: string[],
): void {
  const ran = new Map<string, LedgerEntry>();
  for (const entry of ledger) {
    const key = `${entry.execution} ${entry.graph} ${entry.idx} ${entry.attempt}`;
    const other = ran.get(key);
    if (other && other.worker !== entry.worker)
      breaches.push(`${key} ran at ${other.worker} and ${entry.worker}`);
    ran.set(key, entry);
  }
  for (const key of accepted.keys()) if (!ran.has(key)) breaches.push(`${key} has an outcome but never ran`);
}
