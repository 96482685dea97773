import { AppError, type ErrorCode } from '@baton/kernel';

interface SqlError {
  code: string;
  constraint?: string;
}

function sqlState(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}

function isViolation(error: unknown, code: string, constraint?: string): boolean {
  return (
    sqlState(error) === code && (constraint === undefined || (error as SqlError).constraint === constraint)
  );
}

/** Whether `error` is a violation of a unique key; of `constraint` (index name) when one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, '23505', constraint);
}

/** Whether `error` is a violation of a foreign key: a reference to a missing row, or the removal of a row that others refer to. */
export function isForeignKeyViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, '23503', constraint);
}

/**
 * Whether the same transaction may succeed when run again: after a serialization failure or a deadlock. Also after a stale plan: a
 * prepared statement of a session from before a migration that added columns to its result. The pool closes the session of a
 * statement that failed.
 */
export function isTransient(error: unknown): boolean {
  const code = sqlState(error);
  const isStalePlan = code === '0A000' && (error as Error).message.startsWith('cached plan');
  return code === '40001' || code === '40P01' || isStalePlan;
}

const LOST = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  '57P01',
  '57P02',
  '57P03',
  '53300',
]);
const LOST_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

/** The error of the driver, where `error` is the translated error that callers see (translateError). */
const untranslated = (error: unknown): unknown => (error instanceof AppError ? error.cause : error);

/**
 * Whether the database could not be reached or was lost during the call; a commit may or may not have happened. Works for
 * translated errors too.
 */
export function isConnectionLoss(error: unknown): boolean {
  const thrown = untranslated(error);
  const code = sqlState(thrown);
  if (code !== null && (LOST.has(code) || code.startsWith('08'))) return true;
  // The driver gives these errors no code.
  return thrown instanceof Error && LOST_TEXT.test(thrown.message);
}

/**
 * Whether a value was refused for its content, e.g. as too large or too deep: the same statement fails again. Works for translated
 * errors too.
 */
export function isDataError(error: unknown): boolean {
  const state = sqlState(untranslated(error)) ?? '';
  return state.startsWith('22') || state.startsWith('54');
}

/**
 * SQLSTATEs that our own triggers raise. Each refusal has its own, from which callers see its meaning. `closedTenant`: see
 * closed-tenants.ts. `leftEnd`: code that takes an execution out of its end; this is our own fault
 * (services/executions/migrations/0230_code_of_left_end.sql), so it is not translated.
 */
export const OWN_STATES = { closedTenant: 'BT001', leftEnd: 'BT002' } as const;

/** NUL, or half of a surrogate pair: texts of PostgreSQL cannot hold them. */
const UNSTORABLE = new Set(['22021', '22P05']);

/** Our JSON is well-formed except for halves of surrogate pairs: JSON can write them, and PostgreSQL refuses them with 22P02. */
const isUnstorable = (error: unknown): boolean =>
  UNSTORABLE.has(sqlState(error) ?? '') ||
  (sqlState(error) === '22P02' && (error as Error).message.startsWith('invalid input syntax for type json'));

/** The error for a server that lacks a resource which may be there later. The statement had no effect. */
function refusal(state: string | null): [ErrorCode, string] | null {
  switch (state) {
    case '53100':
      return ['insufficient_storage_error', 'The disk of the database is full'];
    case '53000':
    case '53200':
    case '53400':
      return ['service_unavailable_error', 'The database is short of memory'];
    case '53300':
      return ['service_unavailable_error', 'The database has no connection free'];
    case '55P03':
      return ['service_unavailable_error', 'The database waits for a lock for too long'];
    case '57014':
      return ['service_unavailable_error', 'The database did not answer in time'];
    case '25P03':
      return ['service_unavailable_error', 'The database ended a transaction that paused for too long'];
    case '25006':
      return ['service_unavailable_error', 'The database can only be read at the moment'];
    case '58030':
      return ['service_unavailable_error', 'The disk of the database cannot be read or written'];
    default:
      return null;
  }
}

/**
 * Translates an error of the driver into the error that callers see:
 * - a lost connection, and a server short of a resource: `service_unavailable_error` (a full disk: `insufficient_storage_error`);
 * - a text that no column can hold: `bad_parameters_error` (the text came from outside, whichever parameter it was);
 * - an insert into a tenant that is being removed: `forbidden_error`.
 * Other errors stay as they are.
 */
export function translateError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isUnstorable(error)) {
    return new AppError(
      'bad_parameters_error',
      'A text holds a character that cannot be stored',
      { expected: 'text without NUL characters and halves of surrogate pairs' },
      { cause: error },
    );
  }
  if (sqlState(error) === OWN_STATES.closedTenant)
    return new AppError('forbidden_error', 'The tenant is being removed', {}, { cause: error });
  const refused = refusal(sqlState(error));
  if (refused) return new AppError(...refused, {}, { cause: error });
  if (!isConnectionLoss(error)) return error;
  return new AppError('service_unavailable_error', 'The database does not answer', {}, { cause: error });
}
