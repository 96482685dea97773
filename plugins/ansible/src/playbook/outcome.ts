import { FatalError, OperationRetry } from '@baton/plugin-sdk';
import type { TaskResult } from './events';
import { plain } from './events';
import type { PlaybookRun } from './run-playbook';

/** Exit codes of ansible-playbook for hosts that failed or could not be reached: another try may succeed. */
const HOST_CODES = [2, 4];
const SHOWN = 3;

/**
 * Ends an operation by the exit code of its run: 0 is fine, 2 and 4 are tried again, others are not.
 * @throws OperationRetry while there are attempts left, FatalError otherwise
 */
export function requireSuccess(
  run: PlaybookRun,
  { retryNumber, attempts }: { retryNumber: number; attempts: number },
): void {
  if (run.exitCode === 0) return;
  const why = failureText(run);
  if (!HOST_CODES.includes(run.exitCode)) throw new FatalError(why);
  const attempt = retryNumber + 1;
  if (attempt >= attempts) throw new FatalError(`${why} (attempt ${attempt} of ${attempts})`);
  throw new OperationRetry(`${why}; attempt ${attempt} of ${attempts}`);
}

/** What went wrong, in one text: the first failures, or the last lines of Ansible. */
export function failureText({ exitCode, failed, said }: PlaybookRun): string {
  const what = failed
    .slice(0, SHOWN)
    .map(
      ({ s: state, h: host, t: task, m, err }: TaskResult) =>
        `${state} [${plain(host)}] in ${plain(task)}${m || err ? `: ${plain((m ?? err)!).slice(0, 300)}` : ''}`,
    );
  const more = failed.length > SHOWN ? [`and ${failed.length - SHOWN} more`] : [];
  const shown = [...what, ...more].join('; ');
  return `ansible-playbook ended with ${exitCode}: ${shown || said || 'it said nothing'}`;
}
