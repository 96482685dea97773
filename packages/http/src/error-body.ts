import { AppError, createFloodLog, diskFailure, type FloodLog, type Log, systemClock } from '@baton/kernel';

/** States of PostgreSQL in which another request has done something at the same moment; handlers look before they write. */
const byRace: Record<string, string> = {
  '23503': 'What the request refers to was removed meanwhile',
  '23505': 'What the request would create was created meanwhile',
};

/** Any thrown value as AppError; what is not one of ours is a bug and becomes internal_server_error. */
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

/** Seconds after which the client may ask again, by `retry_after` of the details; null: asking again is no use by itself. */
export function retryAfterOf(error: AppError): string | null {
  const { http } = error.entry;
  // Nobody frees a disk within a second.
  if (http === 507) return '30';
  if (http !== 429 && http !== 503) return null;
  const { retry_after: given } = error.details;
  return typeof given === 'number' ? String(given) : '1';
}

/** Characters of a message that tell kinds of errors apart. */
const MAX_KIND = 200;

/** Error body of the API: `{message, error_code, server_traceback: null, ...details}`. */
export function errorBody(error: AppError): Record<string, unknown> {
  return { ...error.details, message: error.message, error_code: error.code, server_traceback: null };
}

/** One a log: lines of one kind are counted together whoever writes them. */
const floods = new WeakMap<Log, FloodLog>();
function floodsOf(log: Log): FloodLog {
  let known = floods.get(log);
  if (!known) floods.set(log, (known = createFloodLog(log, systemClock)));
  return known;
}

/**
 * Logs an error once, where it is answered: faults with their stack, refusals for debugging only. Of a kind (code, and message
 * of the cause) one line a minute: a database that is away is one stack, not one for each request.
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
