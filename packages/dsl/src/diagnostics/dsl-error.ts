import { type Diagnostic, diagnostic, type ReportDetails } from './diagnostic';
import type { DiagnosticKind } from './kinds';

/** Ends a computation inside this package with one diagnostic; public functions convert it to a Result. */
export class DslError extends Error {
  constructor(readonly diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.name = diagnostic.className;
  }
}

export function fail(kind: DiagnosticKind, message: string, details: ReportDetails = {}): never {
  throw new DslError(diagnostic(kind, message, details));
}

/** Runs `body`. A DslError becomes a failed Result; other errors pass through. */
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
