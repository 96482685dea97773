import { AppError, type ErrorDetails } from '@baton/kernel';
import type { ArchiveRefused } from './entry-rules';
import type { UploadEvent } from './upload.machine';
import type { UploadTexts } from './upload-texts';

/** A diagnostic of the parser (packages/dsl), stored and returned unchanged. */
export interface BlueprintDiagnostic {
  severity: 'error' | 'warning';
  kind: string;
  code: number | null;
  className: string;
  message: string;
  file: string | null;
  line: number | null;
  column: number | null;
  path: string;
  value?: unknown;
  expected?: string;
  nearest?: string;
}

/** Why an upload fails: the event for its state machine and the information that a user needs to fix it. */
export class UploadFailure extends Error {
  constructor(
    readonly event: UploadEvent,
    message: string,
    readonly details: ErrorDetails = {},
    readonly diagnostics: BlueprintDiagnostic[] = [],
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'UploadFailure';
  }
}

export function archiveFailure(refused: ArchiveRefused, texts: UploadTexts): UploadFailure {
  const { entry, expected, isAboutTop } = refused.fault;
  const message = `Failed to extract the archive - ${refused.message}`;
  return new UploadFailure(
    'archiveRefused',
    isAboutTop ? texts.topFolder(refused.message) : message,
    { field: 'archive', entry, expected },
    [],
    { cause: refused },
  );
}

/** Returns the error of a synchronous upload or a validation: 400 invalid_blueprint_error with all diagnostics. */
export function failureError(failure: UploadFailure): AppError {
  const all = failure.diagnostics.length > 0 ? { diagnostics: failure.diagnostics } : {};
  return new AppError(
    'invalid_blueprint_error',
    failure.message,
    { ...failure.details, ...all },
    { cause: failure },
  );
}

function place(d: BlueprintDiagnostic): string {
  return d.line === null ? (d.file ?? 'blueprint') : `${d.file ?? 'blueprint'}:${d.line}:${d.column}`;
}

/** Returns one line of text for each diagnostic, for `error_traceback`. */
export function diagnosticLines(diagnostics: readonly BlueprintDiagnostic[]): string {
  return diagnostics
    .map(
      (d) =>
        `${place(d)}: ${d.severity}: ${d.message}${d.nearest === undefined ? '' : ` - did you mean "${d.nearest}"?`}`,
    )
    .join('\n');
}

const isMissingPlugin = (d: BlueprintDiagnostic): boolean =>
  typeof d.value === 'string' && /^(?:[^:]*--)?plugin:/.test(d.value);

/**
 * Makes the failure of a blueprint that does not parse. A missing plugin is a case of its own: it is no fault of the text
 * (reference/dsl.md ch. 6).
 */
export function invalidBlueprint(diagnostics: BlueprintDiagnostic[]): UploadFailure {
  const errors = diagnostics.filter((d) => d.severity === 'error');
  const isPluginAlone = errors.length > 0 && errors.every(isMissingPlugin);
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const first = errors[0] === undefined ? 'it does not parse' : `${errors[0].message} [${place(errors[0])}]`;
  const prefix = isPluginAlone ? 'Failed parsing blueprint' : 'Invalid blueprint';
  return new UploadFailure(
    isPluginAlone ? 'notParsed' : 'invalidBlueprint',
    `${prefix} - ${first}${more}`,
    {},
    diagnostics,
  );
}
