import { err, nearestName, ok, type Result } from '@baton/kernel';
import { checkEntryPath } from './entry-rules';

const DEFAULT_MAIN_FILE = 'blueprint.yaml';

export interface MainFileFault {
  message: string;
  expected: string[];
  nearest: string | null;
}

/** Clients quote the name before they quote the query (reference/rest-api.md 10.3), so one more layer may be left. */
function unquoted(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** `application_file_name` as given in a request; '' asks for the default. Null: it leads out of the archive. */
export function requestedMainFile(given: string): string | null {
  const name = unquoted(given.trim());
  if (name === '') return '';
  const path = checkEntryPath(name);
  return path.ok && path.value !== '' ? path.value : null;
}

/** The main file among the archive's `paths`, or what else there is. */
export function findMainFile(requested: string, paths: readonly string[]): Result<string, MainFileFault> {
  const wanted = requested === '' ? DEFAULT_MAIN_FILE : requested;
  if (paths.includes(wanted)) return ok(wanted);
  const candidates = paths.filter((p) => /\.ya?ml$/i.test(p) && p.split('/').length <= 2).slice(0, 20);
  return err({
    message: `${wanted} does not exist in the application directory`,
    expected: candidates,
    nearest: nearestName(wanted, candidates),
  });
}
