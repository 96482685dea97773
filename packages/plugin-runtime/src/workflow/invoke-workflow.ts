import type { Json } from '@baton/kernel';
import {
  CancelledError,
  FatalError,
  type PluginWorkflow,
  WorkflowFailedError,
  type WorkflowFunction,
} from '@baton/plugin-sdk';
import { OperationSession } from '../context/session';
import type { OperationHost } from '../host';
import { type InvokeDeps, untilStopped } from '../invoke';
import { endOfKind, endOfThrown, type OperationEnd, stopReason } from '../operation-end';
import { unknownWorkflow, WORKFLOW_SCRIPT_MAPPING } from '../registry';
import { runFunction } from '../script/run-function';
import { runScript } from '../script/run-script';
import { codeContext } from './code-context';
import type { WorkPort } from './work';
import { WorkBoard } from './work-board';
import { RefusedWork, WorkSession } from './work-session';
import { workflowCalls } from './workflow-calls';

/** The result with which older workflow code ends after a cancel. */
const CANCELLED_RESULT = 'execution_cancelled';
const DEFAULT_WAIT_AFTER_FAIL_MS = 600_000;

/**
 * Runs the code of a workflow to its end: a function registered in the process, or a Python script. Never throws. Work
 * is sent to the engine through `port`; aborting `signal` stops the code by force.
 */
export async function invokeWorkflow(
  task: OperationSession['task'],
  host: OperationHost,
  port: WorkPort,
  deps: InvokeDeps,
  signal: AbortSignal,
): Promise<OperationEnd> {
  const ended = new AbortController();
  const session = new OperationSession(task, host, signal);
  const work = new WorkSession(port, AbortSignal.any([signal, ended.signal]));
  const waitAfterFailMs = task.waitAfterFailMs ?? DEFAULT_WAIT_AFTER_FAIL_MS;
  try {
    const workflow = deps.workflows?.get(task.mapping);
    if (workflow) return await callWorkflow(workflow, session, new WorkBoard(work, waitAfterFailMs));
    const calls = workflowCalls(session, work, waitAfterFailMs);
    if (task.mapping === WORKFLOW_SCRIPT_MAPPING)
      return await runScript(session, deps.scripts, { workflow: { calls } });
    const plugin = await host.installedPlugin(task.plugin.name);
    if (plugin?.kind === 'module') throw noModuleWorkflows(task.mapping, task.plugin.name);
    if (plugin) return await runFunction(session, deps.scripts, plugin, { calls });
    return endOfThrown(unknownWorkflow(task.mapping, task.plugin.name, deps.workflows));
  } catch (thrown) {
    return endOfCode(thrown);
  } finally {
    ended.abort();
  }
}

const noModuleWorkflows = (mapping: string, plugin: string): FatalError =>
  new FatalError(
    `workflow ${mapping} is in the TypeScript plugin ${plugin}: workers run operations of such plugins, no workflows yet; a workflow may be a Python script of the blueprint (mapping: scripts/name.py)`,
  );

async function callWorkflow(
  workflow: PluginWorkflow | WorkflowFunction,
  session: OperationSession,
  board: WorkBoard,
): Promise<OperationEnd> {
  const { run, isResumable } =
    typeof workflow === 'function' ? { run: workflow, isResumable: false } : workflow;
  if (isResumable) await board.session.submit({ isResumable });
  const { script_path: _, ...parameters } = await session.inputs();
  const returned = run(codeContext(session, board), parameters as Record<string, Json>);
  const result = returned instanceof Promise ? await untilStopped(returned, session.signal) : returned;
  if (session.signal.aborted) return { kind: 'stopped', reason: stopReason(session.signal) };
  if (result === CANCELLED_RESULT) throw new CancelledError();
  return { kind: 'succeeded', result };
}

/** Code runs once: any thrown value is its end. */
function endOfCode(thrown: unknown): OperationEnd {
  if (
    thrown instanceof CancelledError ||
    thrown instanceof WorkflowFailedError ||
    thrown instanceof RefusedWork
  ) {
    const { exceptionType, message } = thrown;
    return endOfKind('fatal', { exceptionType, message, traceback: null, causes: [], retryAfter: null });
  }
  const end = endOfThrown(thrown, 'with-frames');
  return end.kind === 'deferred' ? endOfThrown(new FatalError('A workflow cannot be deferred')) : end;
}
