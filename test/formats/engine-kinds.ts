// Data that executions stores about a running execution: its graph, and the history of its stages.
import { inflateRawSync } from 'node:zlib';
import type { Json } from '@baton/kernel';
import {
  advance,
  type GraphSpec,
  graphFromRows,
  graphFromSpec,
  nextStage,
  progressOf,
  type Stage,
  type StageResult,
} from '@baton/task-graph';
import { newWorld, ok, runGraph } from '../../packages/task-graph/src/testing/driver';
import { fixture, inputOf } from '../../packages/task-graph/src/testing/fixture';
import { modifications } from '../../packages/task-graph/src/testing/modification';
import { newLoadedGraph } from '../../services/executions/src/engine/steps/graph-memory';
import { taskWrites } from '../../services/executions/src/engine/steps/task-writes';
import {
  packTasks,
  type TaskMarks,
  taskIdOf,
  taskOfRow,
  tasksOfGraph,
} from '../../services/executions/src/engine/store/task-document';
import {
  GRAPH_FORMAT,
  HISTORY_FORMAT,
  type StoredGraph,
  type StoredTask,
} from '../../services/executions/src/store/rows';
import { type Kind, plain } from './kind';

const GRAPH = '019aa5c4-1740-711d-a3c8-ff6b00000000';
const EXECUTION = '019aa5c4-1740-711d-a3c8-ff6c00000000';
const AT = Date.parse('2026-11-25T12:00:00Z');

/** A host, and a program on it that is connected to another one: they need every kind of task of an installation. */
const NODES = {
  host: { ops: ['create', 'start'], types: ['cloudify.nodes.Compute'], inputs: { size: 2 } },
  program: {
    ops: ['create', 'configure', 'start'],
    rels: [{ to: 'host', contained: true, source: ['establish'] }],
    properties: { port: 8080 },
  },
};

function installSpec(): GraphSpec {
  const stage = nextStage('install', inputOf('install', fixture(NODES)), []);
  if (stage.kind !== 'graph') throw new Error('install begins with a graph');
  return stage.spec;
}

interface StoredGraphSample {
  name: string;
  wait_after_fail_ms: number;
  is_dry_run: boolean;
  flags: StoredGraph['flags'];
  /** The compressed document, base64. */
  tasks: string;
  marks: TaskMarks[];
  rows: Pick<
    StoredTask,
    'idx' | 'spec' | 'state' | 'attempt' | 'losses' | 'retries' | 'not_before' | 'error' | 'result'
  >[];
}

const AGENTS = { leaseMs: 900_000, waitMs: 300_000 };

/** Returns the graph after two steps: the first operation has run and failed in a way that causes a retry. */
async function writeGraph(): Promise<Json> {
  const spec = installSpec();
  const graph = graphFromSpec(spec);
  const execution = { id: EXECUTION, version: 1, now_ms: AT } as Parameters<typeof newLoadedGraph>[0];
  const ids = spec.tasks.map(({ idx }) => taskIdOf(GRAPH, idx));
  const loaded = newLoadedGraph(execution, GRAPH, graph, ids, new Set(ids.keys()));
  const first = advance(graph, [{ kind: 'start' }], AT);
  const steps = [taskWrites(AGENTS, execution as never, loaded, [first])];
  const idx = first.dispatch[0]!;
  const error = { type: 'RecoverableError', message: 'not yet', recoverable: true, retryAfterMs: 5_000 };
  const second = advance(graph, [{ kind: 'failed', idx, attempt: 1, error }], AT + 1_000);
  steps.push(taskWrites(AGENTS, execution as never, loaded, [second]));
  const rows = new Map(
    steps.flatMap(({ newTasks, tasks }) => [...newTasks, ...tasks]).map((row) => [row.spec.idx, row]),
  );
  const sample: StoredGraphSample = {
    name: spec.name,
    wait_after_fail_ms: spec.waitAfterFailMs,
    is_dry_run: spec.dryRun,
    flags: second.flags,
    tasks: await packTasks(spec.tasks),
    marks: steps.flatMap(({ marks }) => marks ?? []),
    rows: [...rows.values()].map(({ spec: { idx: at, ...rest }, status }) => {
      const { state, attempt, losses, retries, notBefore: not_before, error: failed, result } = status;
      return {
        idx: at,
        spec: rest as StoredTask['spec'],
        state,
        attempt,
        losses,
        retries,
        not_before,
        error: failed,
        result,
      };
    }),
  };
  return plain(sample);
}

/** Returns state, attempt and name of every task, and the tasks that are ready once the retry is due. */
function readGraph(stored: Json): Json {
  const sample = stored as unknown as StoredGraphSample;
  const head = {
    id: GRAPH,
    execution_id: EXECUTION,
    created_at: '',
    tasks: Buffer.from(sample.tasks, 'base64'),
  };
  const rows = sample.rows.map(
    (row) => ({ ...row, id: taskIdOf(GRAPH, row.idx), deferral: null }) as unknown as StoredTask,
  );
  const tasks = tasksOfGraph(head, sample.marks, rows).map(taskOfRow);
  const about = { name: sample.name, waitAfterFailMs: sample.wait_after_fail_ms, dryRun: sample.is_dry_run };
  const graph = graphFromRows(about, tasks, sample.flags);
  const progress = progressOf(tasks);
  const waiting = tasks.find(({ notBefore, state }) => notBefore !== null && state === 'pending')!;
  const next = advance(graph, [{ kind: 'due', idx: waiting.idx }], AT + 3_600_000);
  return plain({
    tasks: tasks.map(({ idx, kind, name, state, attempt }) => `${idx} ${kind} ${name}: ${state}, ${attempt}`),
    progress,
    dispatched: next.dispatch,
  });
}

const unpacked = (stored: Json): Json => {
  const { tasks, ...rest } = stored as unknown as StoredGraphSample;
  return plain({ ...rest, tasks: JSON.parse(inflateRawSync(Buffer.from(tasks, 'base64')).toString()) });
};

/** Returns a stage as stored in the row of the execution: without the tasks of a graph, which have their own rows. */
const storedStage = (stage: Stage): Json => {
  if (stage.kind !== 'graph') return plain(stage);
  const { kind, name, memo } = stage;
  return plain({ kind, name, memo });
};

interface StoredHistory {
  workflow: string;
  parameters: Record<string, Json>;
  /** The model at the decision of each stage. */
  models: Json[];
  history: StageResult[];
}

/** Runs a workflow to its end and returns its history. */
function writeHistory(workflow: string, parameters: Record<string, Json>, state: string): Json {
  const nodes = { host: { ...NODES.host, state }, program: { ...NODES.program, state } };
  const world = newWorld(fixture(nodes), { run: () => ok(), call: modifications('program') });
  const sample: StoredHistory = { workflow, parameters, models: [], history: [] };
  for (;;) {
    sample.models.push(plain(world.model));
    const stage = nextStage(workflow, inputOf(workflow, world.model, parameters), sample.history);
    if (stage.kind === 'end') return plain(sample);
    const { name, memo } = stage;
    const result =
      stage.kind === 'graph'
        ? { kind: 'graph', outcome: { kind: 'succeeded' } }
        : { kind: 'call', response: world.options.call?.(stage.request, world.model) ?? null };
    if (stage.kind === 'graph') runGraph(world, stage.spec);
    sample.history.push({ ...result, name, memo } as StageResult);
  }
}

/** Returns the next stage of the workflow after each part of the history. */
function readHistory(stored: Json): Json {
  const { workflow, parameters, models, history } = stored as unknown as StoredHistory;
  return models.map((model, at) =>
    storedStage(nextStage(workflow, inputOf(workflow, model as never, parameters), history.slice(0, at))),
  );
}

const historyKind = (workflow: string, parameters: Record<string, Json>, state: string): Kind => ({
  name: `workflow-history-${workflow}`,
  format: HISTORY_FORMAT,
  write: () => writeHistory(workflow, parameters, state),
  read: readHistory,
});

export const engineKinds: Kind[] = [
  { name: 'task-graph', format: GRAPH_FORMAT, write: writeGraph, read: readGraph, comparable: unpacked },
  historyKind('install', {}, 'uninitialized'),
  historyKind('reinstall', {}, 'started'),
  historyKind('scale', { scalable_entity_name: 'program', delta: 1 }, 'started'),
];
