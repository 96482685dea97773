import { ApiError } from '@baton/client';

/** The failure of a command, with the exit code of the program (`exit-codes.ts`). */
export class CommandFailure extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
    readonly result: object = {},
  ) {
    super(message);
  }
}

/** The command line itself is wrong: a bad value of an option, a missing one, options that exclude each other. */
export class UsageFailure extends CommandFailure {
  constructor(message: string) {
    super(message, 2);
  }
}

interface ShownDiagnostic {
  severity?: string;
  message: string;
  file?: string | null;
  line?: number | null;
  column?: number | null;
  nearest?: string | null;
  expected?: string | null;
}

/** Returns an error as text for people: the problem, its place, the expected value. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) {
    const { message, cause } = error as Error & { cause?: { message?: string } };
    return cause?.message ? `${message}: ${cause.message}` : message;
  }
  const { field, expected, nearest, diagnostics } = error.details;
  if (Array.isArray(diagnostics) && diagnostics.length > 0) {
    return (diagnostics as ShownDiagnostic[])
      .map((one) => (one.file ? diagnosticText(one) : withHints(`${one.message} (${error.errorCode})`, one)))
      .join('\n');
  }
  const isNamed = field === undefined || error.message.includes(String(field));
  return withHints(`${error.message} (${error.errorCode})`, {
    field: isNamed ? null : String(field),
    expected: typeof expected === 'string' ? expected : null,
    nearest: nearest ? String(nearest) : null,
  });
}

interface Hints {
  field?: string | null;
  expected?: string | null;
  nearest?: string | null;
}

function withHints(text: string, { field, expected, nearest }: Hints): string {
  const hints = Object.entries({ field, expected, nearest }).flatMap(([name, value]) =>
    value ? [`  ${name}: ${value}`] : [],
  );
  return [text, ...hints].join('\n');
}

export function diagnosticText(diagnostic: ShownDiagnostic): string {
  const place = diagnostic.file
    ? `${diagnostic.file}:${diagnostic.line ?? 0}:${diagnostic.column ?? 0}: `
    : '';
  const hint = diagnostic.nearest ? ` (did you mean ${diagnostic.nearest}?)` : '';
  return `${place}${diagnostic.severity ?? 'error'}: ${diagnostic.message}${hint}`;
}

/** Returns an error for --json. */
export function errorJson(error: unknown): object {
  if (error instanceof ApiError) {
    return { message: error.message, error_code: error.errorCode, status: error.status, ...error.details };
  }
  return { message: (error as Error).message, ...(error instanceof CommandFailure ? error.result : {}) };
}
