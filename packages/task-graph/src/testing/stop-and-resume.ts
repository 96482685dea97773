import { resumeGraph } from '../resume';
import type { TaskRow } from '../task';
import type { WorkflowConfig } from '../workflow';
import { nextStage } from '../workflows/registry';
import { type DriverOptions, drive, driveFrom, newWorld, runStored, type World } from './driver';
import { fixture, inputOf, type NodeFixture } from './fixture';

/**
 * Run to a stop, then resume the last graph, all operations succeeding, and whatever follows it. Null = the first run
 * succeeded already.
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
