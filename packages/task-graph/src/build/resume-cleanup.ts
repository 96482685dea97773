import type { DeploymentModel } from '../model';
import type { LifecycleSubject } from '../subject';
import type { FailureHandler, TaskRow } from '../task';
import type { WorkflowConfig } from '../workflow';
import { addSubgraph, finishDraft, newDraft } from './draft';
import { emitLinks } from './emit';
import { indexModel, type ModelIndex } from './model-index';
import { readSubject } from './read-subject';
import { around, event, LIFECYCLE, type Link } from './steps';
import { hostPreStop, postdelete, prestop } from './uninstall-steps';

export interface CleanupSource {
  model: DeploymentModel;
  config: WorkflowConfig;
}

/** Subgraphs to add, and the new dependencies of the install subgraphs on them. */
export interface Cleanups {
  added: TaskRow[];
  deps: Map<number, number[]>;
}

const SILENT: FailureHandler = { handler: 'ignore', silent: true };

/**
 * Returns the tasks that clean up before an install goes on. An instance that is `starting` and will be started again
 * is stopped first; one that is `creating` is deleted first. `rows` are the rows after the reset. An operation that
 * `hasWaited` (task-graph's deferral.ts) goes on where it was: it is made to run many times, and the execution that it
 * waits for is resumed, not undone.
 */
export function addCleanups(
  rows: readonly TaskRow[],
  source: CleanupSource,
  hasWaited: (idx: number) => boolean,
): Cleanups {
  const ix = indexModel(source.model);
  const found: Cleanups = { added: [], deps: new Map() };
  for (const row of rows) {
    const isAgain = row.kind === 'operation' && row.state === 'pending' && !hasWaited(row.idx);
    const top = isAgain ? topOf(rows, row) : null;
    if (top?.state !== 'started' || found.deps.has(top.idx) || hasRunning(rows, top)) continue;
    const links = row.kind === 'operation' ? cleanupLinks(ix, source.config, row) : [];
    if (links.length === 0) continue;
    const from = rows.length + found.added.length;
    found.added.push(...cleanupRows(row.payload as { nodeInstanceId: string; nodeId: string }, links, from));
    found.deps.set(top.idx, [...top.deps, from]);
  }
  return found;
}

/** The install subgraph that directly contains the operation; null inside a re-run. */
function topOf(rows: readonly TaskRow[], row: TaskRow): TaskRow | null {
  const parent = row.subgraph === null ? null : rows[row.subgraph]!;
  return parent && parent.subgraph === null && parent.name.startsWith('install_') ? parent : null;
}

function hasRunning(rows: readonly TaskRow[], top: TaskRow): boolean {
  return rows.some((row) => row.kind === 'operation' && row.state === 'started' && row.subgraph === top.idx);
}

function cleanupLinks(
  ix: ModelIndex,
  config: WorkflowConfig,
  row: Extract<TaskRow, { kind: 'operation' }>,
): Link[] {
  const instance = ix.instances.get(row.payload.nodeInstanceId);
  if (!instance) return [];
  const subject: LifecycleSubject = readSubject(ix, config, instance);
  const undone =
    row.payload.operation === `${LIFECYCLE}.start` && instance.state === 'starting'
      ? stopBefore(subject)
      : row.payload.operation === `${LIFECYCLE}.create` && instance.state === 'creating'
        ? deleteBefore(subject)
        : [];
  if (undone.length === 0) return [];
  return [
    [event('Rolling back prior to resuming install')],
    ...undone,
    [event('Finished rolling back, now resuming install')],
  ];
}

function stopBefore(subject: LifecycleSubject): Link[] {
  const stop = around(subject, `${LIFECYCLE}.stop`, [], [event('Stopped node instance')]);
  return [...prestop(subject), ...hostPreStop(subject), ...stop];
}

function deleteBefore(subject: LifecycleSubject): Link[] {
  const before = [event('Deleting node instance')];
  const after = [event('Deleted node instance')];
  return [...around(subject, `${LIFECYCLE}.delete`, before, after), ...postdelete(subject)];
}

function cleanupRows(of: { nodeInstanceId: string; nodeId: string }, links: Link[], from: number): TaskRow[] {
  const draft = newDraft(false);
  const subject = { instanceId: of.nodeInstanceId, nodeId: of.nodeId };
  const payload = { nodeInstanceId: of.nodeInstanceId, nodeId: of.nodeId };
  const name = `resume_cleanup_${of.nodeInstanceId}`;
  const subgraph = addSubgraph(draft, null, name, payload, { totalRetries: 0, onFailure: SILENT });
  emitLinks(draft, subgraph, subject, links, { onFailure: SILENT });
  const status = {
    state: 'pending',
    attempt: 0,
    losses: 0,
    retries: 0,
    notBefore: null,
    error: null,
    result: null,
    deferral: null,
  } as const;
  return finishDraft(draft, from).map((spec) => ({ ...spec, ...status }));
}
