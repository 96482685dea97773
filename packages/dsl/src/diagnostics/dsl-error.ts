import { type Diagnostic, diagnostic, type ReportDetails } from './diagnostic';
import type { DiagnosticKind } from './kinds';

/**
 * Ends a computation inside this package; public functions turn it into a Result. It carries one diagnostic.
 */
export class DslError extends Error {
  constructor(readonly diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.name = diagnostic.className;
  }
}

export function fail(kind: DiagnosticKind, message: string, details: ReportDetails = {}): never {
  throw new DslError(diagnostic(kind, message, details));
}

/** Runs `body`; a DslError becomes a failed Result, anything else passes. */
export async function asResult<T>(
  body: () => T | Promise<T>,
): Promise<{ ok: true; value: T } | { ok: false; error: Diagnostic }> {
  try {
    return { ok: true, value: await body() };
  } catch (error) {
    if (error instanceof DslError) return { ok: false, error: error.diagnostic };
    throw error;
  }
}
