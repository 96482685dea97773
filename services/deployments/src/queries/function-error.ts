import type { Diagnostic } from '@baton/dsl';
import { AppError, type ErrorCode } from '@baton/kernel';

/**
 * Returns the error for a function that cannot be evaluated: its kind, its place, and the expected value. A missing secret is
 * not_found_error.
 */
export function functionError(code: ErrorCode, diagnostic: Diagnostic): AppError {
  const { kind, message, path, expected } = diagnostic;
  const details = { kind, field: path ?? '', ...(expected === undefined ? {} : { expected }) };
  return new AppError(kind === 'unknown_secrets' ? 'not_found_error' : code, message, details);
}
