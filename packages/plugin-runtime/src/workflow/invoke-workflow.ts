import { OperationSession } from '../context/session';
import type { OperationHost } from '../host';
import type { InvokeDeps } from '../invoke';
import { runModuleWorkflow } from '../module/run-module';
import { endOfThrown, type OperationEnd } from '../operation-end';
import { unknownWorkflow, WORKFLOW_SCRIPT_MAPPING } from '../registry';
import { runFunction } from '../script/run-function';
import { runScript } from '../script/run-script';
import { callWorkflow, endOfCode, waitAfterFailMs } from './call-workflow';
import type { WorkPort } from './work';
import { WorkSession } from './work-session';
import { type WorkflowCall, workflowCalls } from './workflow-calls';

/**
 * Runs the code of a workflow to its end: a function registered in the process, a function of a plugin, or a Python script. Never
 * throws. Work is sent to the engine through `port`; aborting `signal` stops the code by force.
 */
export async function invokeWorkflow(
  task: OperationSession['task'],
  host: OperationHost,
  port: WorkPort,
  deps: InvokeDeps,
  signal: AbortSignal,
): Promise<OperationEnd> {
  const session = new OperationSession(task, host, signal);
  try {
    const workflow = deps.workflows?.get(task.mapping);
    if (workflow) return await callWorkflow(workflow, session, port);
    if (task.mapping === WORKFLOW_SCRIPT_MAPPING)
      return await withCalls(session, port, (calls) =>
        runScript(session, deps.scripts, { workflow: { calls } }),
      );
    const plugin = await host.installedPlugin(task.plugin.name);
    if (plugin?.kind === 'module') return await runModuleWorkflow(session, deps.modules, plugin, port);
    if (plugin)
      return await withCalls(session, port, (calls) => runFunction(session, deps.scripts, plugin, { calls }));
    return endOfThrown(unknownWorkflow(task.mapping, task.plugin.name, deps.workflows?.keys()));
  } catch (thrown) {
    return endOfCode(thrown);
  }
}

/** Runs Python code, whose calls are carried out here. */
async function withCalls(
  session: OperationSession,
  port: WorkPort,
  run: (calls: ReadonlyMap<string, WorkflowCall>) => Promise<OperationEnd>,
): Promise<OperationEnd> {
  const ended = new AbortController();
  const work = new WorkSession(port, AbortSignal.any([session.signal, ended.signal]));
  try {
    return await run(workflowCalls(session, work, waitAfterFailMs(session)));
  } finally {
    ended.abort();
  }
}
