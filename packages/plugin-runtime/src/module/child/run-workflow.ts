import type { PluginWorkflow, WorkflowFunction } from '@baton/plugin-sdk';
import { RunContext } from '../../context/run-context';
import { OperationSession } from '../../context/session';
import type { OperationTask } from '../../task';
import { callWorkflow } from '../../workflow/call-workflow';
import type { WorkPort } from '../../workflow/work';
import { type RunningOperation, running } from './run-operation';
import { type Say, Waiting, wireHost } from './wire-host';

const noFiles = (): never => {
  throw new Error('workflow code has no folder of its own');
};

/** Starts the code of a workflow. Its graph, handlers and steps live in this process; the tasks are the engine's. */
export function startWorkflow(
  { op, task }: { op: number; task: OperationTask },
  workflow: PluginWorkflow | WorkflowFunction,
  say: Say,
): RunningOperation {
  const stop = new AbortController();
  const waiting = new Waiting(op, say);
  const session = new OperationSession(task, wireHost(op, waiting, say, noFiles), stop.signal);
  const { logger } = new RunContext(session, noFiles);
  const end = running.run(logger, () => callWorkflow(workflow, session, enginePort(waiting)));
  return { waiting, stop, end };
}

/** The engine, behind the worker. The worker ends a waiting call itself when the run is over. */
const enginePort = (waiting: Waiting): WorkPort => ({
  submit: (work) => waiting.ask('submitWork', [work]),
  await: (after) => waiting.ask('awaitWork', [after]),
  call: (key, request) => waiting.ask('callEngine', [key, request]),
});
