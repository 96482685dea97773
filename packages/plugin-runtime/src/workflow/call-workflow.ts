import type { Json } from '@baton/kernel';
import {
  CancelledError,
  FatalError,
  type PluginWorkflow,
  WorkflowFailedError,
  type WorkflowFunction,
} from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { endOfKind, endOfThrown, type OperationEnd, stopReason } from '../operation-end';
import { untilStopped } from '../until-stopped';
import { codeContext } from './code-context';
import type { WorkPort } from './work';
import { WorkBoard } from './work-board';
import { RefusedWork, WorkSession } from './work-session';

/** The result with which older workflow code ends after a cancel. */
const CANCELLED_RESULT = 'execution_cancelled';
export const DEFAULT_WAIT_AFTER_FAIL_MS = 600_000;

/** Runs the function of a workflow in this process to its end. Work is sent to the engine through `port`. Never throws. */
export async function callWorkflow(
  workflow: PluginWorkflow | WorkflowFunction,
  session: OperationSession,
  port: WorkPort,
): Promise<OperationEnd> {
  const ended = new AbortController();
  const work = new WorkSession(port, AbortSignal.any([session.signal, ended.signal]));
  try {
    return await call(workflow, session, new WorkBoard(work, waitAfterFailMs(session)));
  } catch (thrown) {
    return endOfCode(thrown);
  } finally {
    ended.abort();
  }
}

export const waitAfterFailMs = ({ task }: OperationSession): number =>
  task.waitAfterFailMs ?? DEFAULT_WAIT_AFTER_FAIL_MS;

async function call(
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
export function endOfCode(thrown: unknown): OperationEnd {
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
