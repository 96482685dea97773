import { type SubmittedWork, submittedWork } from '@baton/contracts';
import { storableJson } from '@baton/kernel';
import {
  type CodeItem,
  type CompileError,
  compileItems,
  type DeploymentModel,
  type Happening,
  isSameWork,
} from '@baton/task-graph';
import { readExecution, type TimedExecution } from '../../executions/store/executions.sql';
import type { Ports } from '../../ports';
import { isCodeRun, keysOf, staleRun, type WorkflowRun } from '../steps/code-run';
import type { LoadedGraph } from '../steps/graph-memory';
import { noteResult } from '../steps/result-room';
import { type RunStepDeps, runStep } from '../steps/run-step';
import { workflowConfigOf } from '../steps/stage-end';
import { deliverAll } from './deliver-states';

export type SubmitWorkDeps = Pick<Ports, 'db' | 'deployments' | 'workflowConfig'> & RunStepDeps;

/** Limit of the tasks of one execution: all of them are in memory of one replica while it runs. */
const MAX_TASKS = 50_000;

type FieldsOf<T> = T extends unknown ? keyof T : never;
/** Fields that the graph knows and the wire would drop; the check below compares the types of both sides. */
type Dropped = Exclude<FieldsOf<CodeItem>, FieldsOf<SubmittedWork['items'][number]>>;

export interface SubmitAnswer {
  error: CompileError | null;
  keys: string[];
}

/**
 * Takes work from running workflow code into its graph and starts the ready tasks, in one transaction. Work with a known key is
 * not taken twice, so a repeated call, and code that runs again after a crash, find their earlier work. If this process crashes
 * after the commit, `announceUnclaimed` dispatches the operations, and the code asks with `AwaitWork`.
 * @throws AppError stale_attempt_error when another run of the code has begun or the execution has ended.
 */
export async function submitWork(
  deps: SubmitWorkDeps,
  run: WorkflowRun,
  json: string,
): Promise<SubmitAnswer> {
  const work = submittedWork.parse(JSON.parse(storableJson(json)));
  const items: [Dropped] extends [never] ? readonly CodeItem[] : never = work.items;
  const execution = await readExecution(deps.db.query, run.executionId);
  if (!execution) throw staleRun();
  const model = await modelFor(deps, execution, work);
  let answer: SubmitAnswer | null = null;
  await runStep(deps, run.executionId, ({ execution: locked, loaded }) => {
    // The planner may be called twice: if the graph in memory is old, the step is planned once more under the lock.
    answer = null;
    if (!isCodeRun(loaded, run)) return null;
    const config = workflowConfigOf(deps, locked);
    const taken = takeItems(loaded, items, { model, config, isDryRun: locked.is_dry_run });
    answer = { error: taken.error, keys: taken.keys };
    if (taken.error) return null;
    const happenings = [...taken.happenings, ...happeningsOf(loaded, work)];
    return happenings.length > 0 ? { happenings } : null;
  });
  // Planned nothing: the execution, or this run of its code, is over.
  if (answer === null) throw staleRun();
  return answer;
}

async function modelFor(
  deps: SubmitWorkDeps,
  execution: TimedExecution,
  work: SubmittedWork,
): Promise<DeploymentModel> {
  const isNeeded = work.items.some(({ item }) => item !== 'event' && item !== 'step' && item !== 'subgraph');
  if (!isNeeded || execution.deployment_id === null) return { nodes: [], nodeInstances: [] };
  // A lifecycle begins at the state that its instances have after all earlier work of the code.
  if (work.items.some(({ item }) => item === 'lifecycle')) await deliverAll(deps, execution);
  return (await deps.deployments.model(execution.tenant, execution.deployment_id)).model;
}

interface Taken extends SubmitAnswer {
  happenings: Happening[];
}

function takeItems(
  loaded: LoadedGraph,
  items: readonly CodeItem[],
  source: Parameters<typeof compileItems>[0],
): Taken {
  const { graph } = loaded;
  const known = keysOf(graph);
  const fresh = items.filter((item) => !isKnown(known, item));
  const none = { keys: [], happenings: [] };
  for (const item of items) {
    if (isKnown(known, item) && !isTheSame(loaded, item, source))
      return { ...none, error: otherWork(item.key) };
  }
  const compiled = compileItems(source, fresh, graph.nodes.length, known);
  if (!compiled.ok) return { ...none, error: compiled.error };
  const tasks = compiled.value;
  if (graph.nodes.length + tasks.length > MAX_TASKS) {
    const message = `A workflow may have ${MAX_TASKS} tasks; this one asks for more`;
    return { ...none, error: { type: 'NonRecoverableError', message } };
  }
  const added = tasks.flatMap((task) => task.key ?? []);
  const keys = items.flatMap(({ key, item }) =>
    item === 'lifecycle' ? [...known.keys(), ...added].filter((k) => k.startsWith(`${key}/`)) : [key],
  );
  return { error: null, keys, happenings: tasks.length > 0 ? [{ kind: 'add', tasks }] : [] };
}

function isKnown(known: ReadonlyMap<string, number>, { key, item }: CodeItem): boolean {
  return known.has(item === 'lifecycle' ? `${key}/0` : key);
}

/** Returns whether code that runs again asks for the same work as before at this place. */
function isTheSame(loaded: LoadedGraph, item: CodeItem, source: Parameters<typeof compileItems>[0]): boolean {
  const known = keysOf(loaded.graph);
  const asked = compileItems(source, [item], 0, known);
  // The object of the work may be gone from the model by now.
  const [first] = asked.ok ? asked.value : [];
  if (!first || item.item === 'lifecycle') return true;
  return isSameWork(loaded.graph.nodes[known.get(item.key)!]!.spec, first);
}

function otherWork(key: string): CompileError {
  const message =
    `The code of the workflow was run again and asks for other work than before (at ${key}). A resumable workflow ` +
    'must do the same steps in the same order each time';
  return { type: 'NonRecoverableError', message };
}

function happeningsOf(loaded: LoadedGraph, work: SubmittedWork): Happening[] {
  const { graph } = loaded;
  const happenings: Happening[] = [];
  if (work.isResumable && !graph.flags.resumable) happenings.push({ kind: 'declare-resumable' });
  for (const decision of work.decisions) happenings.push({ kind: 'decide', ...decision });
  for (const { idx, attempt, result, error: own } of work.steps) {
    const error = own ?? noteResult(loaded.results, idx, JSON.stringify(result).length);
    happenings.push(
      error
        ? { kind: 'failed', idx, attempt, error: { ...error, traceback: error.traceback ?? null } }
        : { kind: 'succeeded', idx, attempt, result },
    );
  }
  if (work.drop.length > 0) {
    const dropped = new Set(work.drop);
    const idxs = graph.nodes.flatMap(({ spec }) => (spec.key && dropped.has(spec.key) ? [spec.idx] : []));
    happenings.push({ kind: 'drop', idxs });
  }
  return happenings;
}
