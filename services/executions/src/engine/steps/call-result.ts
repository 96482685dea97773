import { isAppError, type Json } from '@baton/kernel';
import type { Stage, StageResult } from '@baton/task-graph';
import { callerOf } from '../../adapters/deployments.client';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';

type CallResultDeps = Pick<Ports, 'deployments'>;

type CallStage = Omit<Extract<Stage, { kind: 'call' }>, 'kind'>;

/**
 * Makes a stage's call to deployments and returns its result. A refusal is a result as well: the workflow decides what follows.
 * @throws AppError of the rpc when it may succeed later.
 */
export async function callResult(
  deps: CallResultDeps,
  execution: ExecutionRow,
  { name, memo, request }: CallStage,
): Promise<StageResult> {
  const about = { kind: 'call' as const, name, memo };
  // A note calls nothing: it only keeps the memo.
  if (request.call === 'note') return { ...about, response: null };
  try {
    const of = callerOf(execution);
    return { ...about, response: await deps.deployments.call(of, name, request as unknown as Json) };
  } catch (error) {
    if (!isAppError(error) || error.entry.retryable) throw error;
    return { ...about, error: { type: error.code, message: error.message } };
  }
}
