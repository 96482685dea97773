import { type ExecutionStatus, executionMachine } from '@baton/task-graph';
import type { MemoryExecution } from './database';
import { observed } from './executions';
import { CANCEL_GRACE_MS, type Simulation, TROUBLED_MS } from './simulation';

/** Whether all executions have ended, and deployments has been told of all ends. */
export const isOver = ({ database }: Simulation): boolean =>
  [...database.executions.values()].every(
    ({ row }) => executionMachine.isTerminal(row.status as ExecutionStatus) && row.wake_at === null,
  );

/** Checks the end of a world; violations are added to the oracle's breaches. */
export function judge(simulation: Simulation): void {
  const { world, database, deployments, oracle, fleet } = simulation;
  const { breaches } = oracle;
  oracle.atEnd([...database.executions.values()].map(observed), fleet.ledger);
  breaches.push(...world.surprises);
  if (database.outbox.size > 0) breaches.push(`${database.outbox.size} messages were never sent`);
  for (const id of database.executions.keys()) judgeEnd(simulation, id);
  judgeKills(simulation);
  judgeKilledRuns(simulation);
  judgeForcedCancels(simulation);
  judgeSides(simulation);
  judgeModels(simulation);
  for (const key of fleet.taken)
    if (!oracle.accepted.has(key)) breaches.push(`${key}: its outcome was taken, and is nowhere`);
  for (const end of deployments.ended)
    if (!end.isWhole) breaches.push(`${end.executionId}: its end was told before its states`);
}

/** Time within which an expired lease must be taken back: the reaper's patience plus its tick. */
const REAPED_WITHIN_MS = 12_000;

function judgeEnd(
  { database, deployments, states: decided, oracle, announced, cancelled, endedByClient }: Simulation,
  id: string,
): void {
  const { row, states, resumes, tasks } = database.executions.get(id)!;
  const say = (text: string) => void oracle.breaches.push(`${id}: ${text}`);
  for (const { idx, state, leaseUntilMs } of tasks.values()) {
    if (leaseUntilMs === null) continue;
    if (state !== 'started') say(`task ${idx} is ${state} and has a lease`);
    else if (leaseUntilMs < Date.now() - REAPED_WITHIN_MS)
      say(`task ${idx} is ${state}, and its lease ran out long ago`);
  }
  if (states.length > 0) say(`${states.length} states were never delivered`);
  if (!decided.areApplied(id, Number.POSITIVE_INFINITY)) say('states are gone that deployments never had');
  const shown = deployments.shown.get(id)?.status;
  if (row.deployment_id !== null && shown !== row.status) say(`deployments shows it as ${shown}`);
  if (row.status === 'terminated' && row.deployment_id !== null && !deployments.agreed.has(id))
    say('it terminated, though deployments found that it failed');
  const isHeard = row.execution_group_id !== null || row.workflow_id === 'delete_deployment_environment';
  if (isHeard && !announced.has(id)) say('its end was not announced');
  if (cancelled.has(id) && !endedByClient.has(id) && resumes === 0 && row.status !== 'cancelled')
    say(`a cancel was accepted, it ended as ${row.status}`);
  const stages = row.history.map(({ name }) => name);
  if (new Set(stages).size < stages.length) say(`stages ended twice: ${stages.join()}`);
}

/** Maximum delay of due work once faults have stopped. */
const LATE_MS = 20_000;

/** Checks that no due work is left undone. */
export function judgeTimers({ world, database, oracle }: Simulation): void {
  if (world.now < TROUBLED_MS + LATE_MS) return;
  const isLate = (at: number | null | undefined) => at != null && at < Date.now() - LATE_MS;
  for (const { row, tasks, graphs } of database.executions.values()) {
    if (row.phase !== 'running') continue;
    if (isLate(graphs.find(({ id }) => id === row.graph_id)?.flags.deadline))
      oracle.breaches.push(`${row.id}: goes on long after the time that its failure left it`);
    for (const { idx, graph_id, state, not_before } of tasks.values())
      if (graph_id === row.graph_id && state === 'pending' && isLate(not_before))
        oracle.breaches.push(`${row.id}: task ${idx} was due long ago`);
  }
}

/**
 * Checks that if all processes died now, waiting tasks would still be handled in time: then only `wake_at` announces them. Runs
 * at every commit, because a crash at exactly that moment is rare.
 */
export function judgeWake({ row, tasks, graphs }: MemoryExecution, breaches: string[]): void {
  if (row.phase !== 'running') return;
  const { flags } = graphs.find(({ id }) => id === row.graph_id) ?? {};
  const waits = [...tasks.values()].filter(
    ({ graph_id, state, not_before }) =>
      graph_id === row.graph_id && state === 'pending' && not_before !== null,
  );
  const deadline = flags && flags.ended === null ? flags.deadline : null;
  const first = Math.min(deadline ?? Number.POSITIVE_INFINITY, ...waits.map(({ not_before }) => not_before!));
  if (first === Number.POSITIVE_INFINITY) return;
  const wakeMs = row.wake_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.wake_at);
  if (wakeMs > first) breaches.push(`${row.id}: would be woken ${wakeMs - first} ms after what waits first`);
}

/**
 * Checks that if all processes died now, deployments would finally show the right end: it shows it already, or the row says that
 * deployments must still be told. Applies to every execution, because each may be the latest one of its deployment.
 */
export function judgeShown({ deployments }: Simulation, { row }: MemoryExecution, breaches: string[]): void {
  if (row.phase !== 'ended' || row.deployment_id === null || row.wake_at !== null) return;
  const shown = deployments.shown.get(row.id)?.status;
  if (shown !== row.status) breaches.push(`${row.id}: it is ${row.status} and shown as ${shown} for good`);
}

/** Time within which deployments has received the message of a resume. */
const HEARD_MS = 30_000;

/** Checks that a running execution is not shown as ended for long, because of a late message about an earlier end. */
export function judgeGoingOn({ world, database, deployments, oracle, wronglyShown }: Simulation): void {
  for (const { row } of database.executions.values()) {
    const { status = '' } = deployments.shown.get(row.id) ?? {};
    const isWrong = row.phase === 'running' && executionMachine.isTerminal(status as ExecutionStatus);
    const since = wronglyShown.get(row.id) ?? world.now;
    if (!isWrong) wronglyShown.delete(row.id);
    else wronglyShown.set(row.id, since);
    if (isWrong && world.now > since + HEARD_MS)
      oracle.breaches.push(`${row.id}: it goes on, and is shown as ${status} for long`);
  }
}

/** Checks that each started operation has a worker and a lease: otherwise nothing would notice the death of the worker. */
export function judgeHolders({ row, tasks }: MemoryExecution, breaches: string[]): void {
  if (row.phase !== 'running') return;
  for (const { idx, graph_id, spec, state, worker_id, leaseUntilMs } of tasks.values()) {
    if (graph_id !== row.graph_id || spec.kind !== 'operation' || state !== 'started') continue;
    if (worker_id === null || leaseUntilMs === null)
      breaches.push(`${row.id}: task ${idx} is started, and nobody has it`);
  }
}

/**
 * Checks that a plain cancel gives running operations their grace period. Runs at every commit, before its kills are noted: no
 * run is told to stop earlier, unless a client has also requested that.
 */
export function judgeGrace(
  { killedRuns, stopAsked, endedByClient, oracle }: Simulation,
  { row, tasks, graphs }: MemoryExecution,
): void {
  if (stopAsked.has(row.id) || endedByClient.has(row.id) || row.cancel_requested_at === null) return;
  const leftMs = Date.parse(row.cancel_requested_at) + CANCEL_GRACE_MS - Date.now();
  if (leftMs <= 0) return;
  for (const { isKillRequested, graph_id, idx, attempt } of tasks.values()) {
    const isNew = isKillRequested && !killedRuns.has(`${row.id} ${graph_id} ${idx} ${attempt}`);
    if (isNew && graphs.find(({ id }) => id === graph_id)?.flags.cancel === 'cancel')
      oracle.breaches.push(
        `${row.id}: task ${idx} is stopped ${leftMs} ms before the grace of its cancel ends`,
      );
  }
}

/** Time of a heartbeat, plus some seconds for its answer. */
const KILLED_WITHIN_MS = 10_000;

/** Checks that operations that ran when a kill was accepted end soon afterwards. Only in worlds where nothing is lost. */
function judgeKills({ killed, fleet, isCalm, resumed, oracle }: Simulation): void {
  if (!isCalm) return;
  for (const { execution, idx, from, to } of fleet.ledger) {
    const at = killed.get(execution);
    // A resume wants its operations to run.
    if (at === undefined || from > at || resumed.has(execution)) continue;
    if ((to ?? from) > at + KILLED_WITHIN_MS)
      oracle.breaches.push(`${execution}: task ${idx} ran on for ${Math.round(to! - at)} ms after its kill`);
  }
}

/** Checks that no run was stopped without a kill, e.g. a later run of the same operation that a resume started. */
function judgeKilledRuns({ killedRuns, fleet, database, oracle }: Simulation): void {
  for (const { execution, graph, idx, attempt, outcome } of fleet.ledger) {
    if (outcome !== 'killed') continue;
    const { graphs } = database.executions.get(execution)!;
    const isWanted = graphs.some(
      ({ id, name }) => name.startsWith(graph) && killedRuns.has(`${execution} ${id} ${idx} ${attempt}`),
    );
    if (!isWanted)
      oracle.breaches.push(`${execution}: attempt ${attempt} of task ${idx} was killed by nobody`);
  }
}

const FORCED_WITHIN_MS = 10_000;

/** Checks that a forced cancel ends in time (the promise G3), even if deployments is slow or away. */
function judgeForcedCancels(simulation: Simulation): void {
  const { killed, endedMs, isCalm, oracle, database, endedByClient } = simulation;
  if (!isCalm) return;
  for (const [id, at] of killed) {
    // A client may meanwhile have set the status to terminated, which deployments must confirm.
    if (endedByClient.has(id) && database.executions.get(id)!.row.status !== 'cancelled') continue;
    const ends = endedMs.get(id) ?? [];
    const end = ends.find((ms) => ms >= at) ?? Number.POSITIVE_INFINITY;
    // An execution that had ended before the kill has nothing to end.
    if (end - at > FORCED_WITHIN_MS && !ends.some((ms) => ms <= at))
      oracle.breaches.push(`${id}: it ended ${Math.round(end - at)} ms after its forced cancel`);
  }
}

/**
 * Checks that operations of different executions of one deployment do not run beside each other, even after a cancel, unless
 * forced. Runs that lost their lease have no end here: the state of an unreachable worker is unknown.
 */
function judgeSides({ database, fleet, forced, oracle }: Simulation): void {
  const runs = fleet.ledger.flatMap(({ execution, idx, from, to }) => {
    const { deployment_id, is_forced } = database.executions.get(execution)!.row;
    const isForced = is_forced || forced.has(execution);
    return to === null || isForced || deployment_id === null
      ? []
      : [{ execution, idx, from, to, deployment_id }];
  });
  for (const a of runs)
    for (const b of runs)
      if (a.deployment_id === b.deployment_id && a.execution < b.execution && a.from < b.to && b.from < a.to)
        oracle.breaches.push(
          `${a.deployment_id}: task ${a.idx} of ${a.execution} ran beside task ${b.idx} of ${b.execution}`,
        );
}

/** After these workflows all instances are started, if nothing was skipped. */
const STARTING = new Set(['install', 'reinstall', 'restart']);

/** Checks that the model of a deployment shows the result of its last execution. */
function judgeModels({ database, deployments, oracle, endedByClient }: Simulation): void {
  for (const [id, { nodeInstances }] of deployments.models) {
    const rows = [...database.executions.values()].map(({ row }) => row);
    const own = rows.filter((row) => row.deployment_id === id);
    const [only] = own;
    if (own.length !== 1 || only!.status !== 'terminated' || !STARTING.has(only!.workflow_id)) continue;
    if (only!.parameters.ignore_failure === true || endedByClient.has(only!.id)) continue;
    const others = nodeInstances.filter(({ state }) => state !== 'started');
    if (others.length > 0)
      oracle.breaches.push(
        `${only!.id}: ${only!.workflow_id} terminated, ${others.map((one) => `${one.id} is ${one.state}`).join()}`,
      );
  }
}
