import type { Diagnostic } from '@baton/dsl';
import { AppError, type ErrorCode } from '@baton/kernel';

/** The answer for a function that cannot be evaluated: what, where, what was expected. A missing secret is not found. */
export function functionError(code: ErrorCode, diagnostic: Diagnostic): AppError {
  const { kind, message, path, expected } = diagnostic;
  const details = { kind, field: path ?? '', ...(expected === undefined ? {} : { expected }) };
  return new AppError(kind === 'unknown_secrets' ? 'not_found_error' : code, message, details);
}
