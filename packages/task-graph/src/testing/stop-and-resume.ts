import { resumeGraph } from '../resume';
import type { TaskRow } from '../task';
import type { StageResult, WorkflowConfig, WorkflowInput } from '../workflow';
import { nextStage } from '../workflows/registry';
import {
  type DriverOptions,
  drive,
  driveFrom,
  newWorld,
  type RunRecord,
  runStored,
  takeLate,
  type World,
} from './driver';
import { fixture, inputOf, type NodeFixture } from './fixture';

/**
 * Runs until a stop, then resumes the last graph with succeeding operations, and runs the stages after it. Null = the
 * first run succeeded already.
 */
export function stopAndResume(
  workflow: string,
  nodes: { [id: string]: NodeFixture },
  first: DriverOptions,
  {
    force = false,
    state,
    config = {},
  }: { force?: boolean; state?: string; config?: Partial<WorkflowConfig> } = {},
) {
  const model = fixture(nodes);
  if (state !== undefined) for (const instance of model.nodeInstances) instance.state = state;
  const input = inputOf(workflow, model, {}, { taskRetries: 0, ...config });
  const stopped = drive(workflow, input, first);
  if (stopped.outcome === 'succeeded') return null;
  const stage = nextStage(workflow, { ...input, model }, stopped.history.slice(0, stopped.stages.length - 1));
  if (stage.kind !== 'graph') throw new Error('the stage that stopped was a graph');
  const world: World = newWorld(model, { isParanoid: true });
  const rows = stopped.stages.at(-1)!.rows;
  const cleanup = workflow === 'install' ? { model, config: input.config } : undefined;
  const { graph, decision } = resumeGraph(stage.spec, rows, { force, now: 0, cleanup });
  const stored: TaskRow[] = [...rows];
  const second = runStored(world, stage.spec, graph, stored, [], decision);
  const history = stopped.history.slice(0, stopped.stages.length - 1);
  if (second === 'cancelled') throw new Error('nobody cancels the second run');
  history.push({ ...second, name: stage.name, memo: stage.memo } as (typeof history)[number]);
  const record = driveFrom(workflow, { ...input, resume: true }, world, history);
  return { stopped, record, model, rows, decision };
}

/** One run of an execution, and the way in which the next one resumes it. */
export interface Life extends DriverOptions {
  /** Time after the previous end during which reports still arrive before the resume, ms. */
  lateMs: number;
  force: boolean;
}

/**
 * Runs `workflow` and resumes it after each stop with the next of `lives`, until it succeeds or no further life is
 * left. As the service does: a failed stage goes on, a graph goes on where it stopped.
 */
export function liveOn(workflow: string, input: WorkflowInput, lives: readonly Life[]): RunRecord {
  const world = newWorld(input.model, { isParanoid: true, ...lives[0]! });
  let record = driveFrom(workflow, input, world, []);
  for (const life of lives.slice(1)) {
    if (record.outcome === 'succeeded') break;
    record = resumeOnce(workflow, { ...input, resume: true }, world, life);
  }
  return record;
}

function resumeOnce(workflow: string, input: WorkflowInput, world: World, life: Life): RunRecord {
  const history = world.record.history.filter((result, i, all) => i < all.length - 1 || !isFailed(result));
  const last = world.record.stages.at(-1);
  const isGraphStopped = last !== undefined && history.every(({ name }) => name !== last.name);
  world.options = { isParanoid: true, ...life };
  if (life.cancelAtMs !== undefined) world.options.cancelAtMs = world.now + life.cancelAtMs;
  if (!isGraphStopped) return driveFrom(workflow, input, world, history);
  // A stopped graph only needs head and memo; its tasks are the stored ones.
  const stage = nextStage(workflow, { ...input, model: world.model }, history);
  if (stage.kind !== 'graph') throw new Error(`the stage ${stage.kind} comes where a graph stopped`);
  takeLate(world, stage.spec, last.rows, world.now + life.lateMs);
  const cleanup = workflow === 'install' ? { model: world.model, config: input.config } : undefined;
  const { force } = life;
  const { graph, decision } = resumeGraph(stage.spec, last.rows, { force, now: world.now, cleanup });
  if (force) world.running.clear();
  const end = runStored(world, stage.spec, graph, last.rows, world.late, decision);
  if (end === 'cancelled') return Object.assign(world.record, { outcome: 'cancelled', error: null, history });
  history.push({ ...end, name: stage.name, memo: stage.memo } as StageResult);
  return driveFrom(workflow, input, world, history);
}

function isFailed(result: StageResult): boolean {
  return result.kind === 'graph' ? result.outcome.kind === 'failed' : result.error !== undefined;
}
