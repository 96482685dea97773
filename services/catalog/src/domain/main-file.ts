import { err, nearestName, ok, type Result } from '@baton/kernel';
import { checkEntryPath } from './entry-rules';

const DEFAULT_MAIN_FILE = 'blueprint.yaml';

export interface MainFileFault {
  /** The file that does not exist. */
  fileName: string;
  expected: string[];
  nearest: string | null;
}

/**
 * Decodes the name once more: clients quote it before they quote the query (reference/rest-api.md 10.3), so one layer may be left.
 */
function unquoted(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Checks `application_file_name` of a request; '' means the default. Returns null when it leads out of the archive. */
export function requestedMainFile(given: string): string | null {
  const name = unquoted(given.trim());
  if (name === '') return '';
  const path = checkEntryPath(name);
  return path.ok && path.value !== '' ? path.value : null;
}

/** Finds the main file among the archive's `paths`; otherwise the error names the candidates. */
export function findMainFile(requested: string, paths: readonly string[]): Result<string, MainFileFault> {
  const wanted = requested === '' ? DEFAULT_MAIN_FILE : requested;
  if (paths.includes(wanted)) return ok(wanted);
  const candidates = paths.filter((p) => /\.ya?ml$/i.test(p) && p.split('/').length <= 2).slice(0, 20);
  return err({
    fileName: wanted,
    expected: candidates,
    nearest: nearestName(wanted, candidates),
  });
}
