import { type ErrorCode, type ErrorEntry, errorTable } from './error-table';

/** Further keys of an error body: `field` (path), `expected`, `nearest`, `diagnostics`, `err_filter_rule`, ... */
export type ErrorDetails = Record<string, unknown>;

/** The only error type that crosses a boundary; any other error is a bug and is answered as `internal_server_error`. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'AppError';
    this.code = code;
    this.details = details;
  }
  get entry(): ErrorEntry {
    return errorTable[this.code];
  }
}

/** Whether `error` is an AppError, of `code` when one is given. */
export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}

/** Returns the result of `asked`, or null when it rejects with not_found_error. @throws any other error of `asked`. */
export async function nullIfNotFound<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (isAppError(error, 'not_found_error')) return null;
    throw error;
  }
}

export function notFound(kind: string, id: string): AppError {
  return new AppError('not_found_error', `Requested ${kind} with ID \`${id}\` was not found`, { kind, id });
}

export function badParameter(field: string, message: string, details: ErrorDetails = {}): AppError {
  return new AppError('bad_parameters_error', message, { field, ...details });
}
