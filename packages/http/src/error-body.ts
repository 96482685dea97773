import { AppError, createFloodLog, diskFailure, type FloodLog, type Log, systemClock } from '@baton/kernel';

/**
 * SQLSTATEs of a race: another request changed the same rows at the same moment. Handlers check before they write, so there is no
 * other cause.
 */
const byRace: Record<string, string> = {
  '23503': 'What the request refers to was removed meanwhile',
  '23505': 'What the request would create was created meanwhile',
};

/** Converts any thrown value into an AppError; a value that is not one of our errors is a bug and becomes internal_server_error. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const race = byRace[String((error as { code?: unknown } | null)?.code)];
  if (race) return new AppError('conflict_error', race, {}, { cause: error });
  const disk = diskFailure(error);
  if (disk) return disk;
  return new AppError(
    'internal_server_error',
    'Internal error in the manager REST service; its log has the details',
    {},
    { cause: error },
  );
}

/** Returns the seconds after which the client may retry, from `retry_after` of the details; null: a retry alone is of no use. */
export function retryAfterOf(error: AppError): string | null {
  const { http } = error.entry;
  // A disk is not freed within a second.
  if (http === 507) return '30';
  if (http !== 429 && http !== 503) return null;
  const { retry_after: given } = error.details;
  return typeof given === 'number' ? String(given) : '1';
}

/** Length of the part of a message that tells kinds of errors apart. */
const MAX_KIND = 200;

/** Error body of the API: `{message, error_code, server_traceback: null, ...details}`. */
export function errorBody(error: AppError): Record<string, unknown> {
  return { ...error.details, message: error.message, error_code: error.code, server_traceback: null };
}

/** One flood log per log: lines of one kind are counted together, whichever code writes them. */
const floods = new WeakMap<Log, FloodLog>();
function floodsOf(log: Log): FloodLog {
  let known = floods.get(log);
  if (!known) floods.set(log, (known = createFloodLog(log, systemClock)));
  return known;
}

/**
 * Logs an error once, where it is sent: faults with their stack, refusals only for debugging. Of each kind (code, and message of
 * the cause) one line a minute is logged: a database that is away gives one stack, not one per request.
 */
export function logError(log: Log, error: AppError, fields: object): void {
  if (error.entry.http < 500) {
    log.debug({ ...fields, errorCode: error.code, reason: error.message }, 'request refused');
    return;
  }
  const err = error.cause ?? error;
  const kind = err instanceof Error ? err.message.slice(0, MAX_KIND) : '';
  floodsOf(log).error(error.code, kind, { ...fields, errorCode: error.code, err }, 'request failed');
}
