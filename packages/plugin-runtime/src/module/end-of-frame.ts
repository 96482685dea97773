import { isJsonObject, isUuid, type Json } from '@baton/kernel';
import { causesOf, endOfKind, endOfThrown, type OperationEnd } from '../operation-end';
import { secondsOf, textOf } from '../thrown';

const CHECK_AFTER = { default: 60, least: 0.5, most: 3600 };

const isKind = (value: unknown): value is 'fatal' | 'retryable' | 'retry' =>
  value === 'fatal' || value === 'retryable' || value === 'retry';

/** Returns the end that a process has sent; whatever it sent, the shape is that of an end. */
export function endOfFrame(sent: unknown): OperationEnd {
  if (!isJsonObject(sent as Json)) return endOfThrown(new Error('the plugin sent an end that is none'));
  const end = sent as Record<string, unknown>;
  if (end.kind === 'succeeded') return { kind: 'succeeded', result: end.result };
  if (end.kind === 'deferred') {
    const until = end.untilExecution;
    const after = secondsOf(end.checkAfter) ?? CHECK_AFTER.default;
    return {
      kind: 'deferred',
      message: textOf(end.message ?? ''),
      untilExecution: typeof until === 'string' && isUuid(until) ? until.toLowerCase() : null,
      checkAfter: Math.min(CHECK_AFTER.most, Math.max(CHECK_AFTER.least, after)),
    };
  }
  const kind = end.kind === 'failed' ? (end.isRecoverable === false ? 'fatal' : 'retryable') : end.kind;
  if (!isKind(kind)) return endOfThrown(new Error('the plugin sent an end of an unknown kind'));
  const failure = isJsonObject(end.failure as Json) ? (end.failure as Record<string, unknown>) : {};
  const described = endOfKind(kind, {
    exceptionType: typeof failure.exceptionType === 'string' ? failure.exceptionType : 'Error',
    message: textOf(failure.message ?? ''),
    traceback: typeof failure.traceback === 'string' ? failure.traceback : null,
    causes: [],
    retryAfter: secondsOf(end.retryAfter),
  });
  const causes = causesOf(failure.causes);
  // The process has added the error itself to the causes already.
  if (described.kind === 'failed' && causes.length > 0) described.failure.causes = causes;
  return described;
}
