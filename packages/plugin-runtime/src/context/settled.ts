import { endOfThrown, type OperationEnd, stopReason } from '../operation-end';
import type { OperationSession } from './session';
import { forgetOlderSteps } from './steps';

/**
 * Runs the work of an operation and stores the runtime properties that it changed, also when it failed, but not when it was
 * stopped. Never throws. `frames`: whether the error of the work shows where it was thrown.
 */
export async function settled(
  session: OperationSession,
  frames: 'with-frames' | 'without-frames',
  work: () => Promise<OperationEnd>,
): Promise<OperationEnd> {
  const { signal } = session;
  let end: OperationEnd;
  try {
    end = await work();
  } catch (thrown) {
    end = endOfThrown(thrown, frames);
  }
  if (signal.aborted) return { kind: 'stopped', reason: stopReason(signal) };
  try {
    if (end.kind === 'succeeded' && !session.retryRequest) await forgetOlderSteps(session);
    await session.save();
  } catch (thrown) {
    if (end.kind === 'succeeded' || end.kind === 'retry' || end.kind === 'deferred')
      end = endOfThrown(thrown);
  }
  if (session.retryRequest && end.kind === 'succeeded') return endOfThrown(session.retryRequest);
  return end;
}
