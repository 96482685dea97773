import type { OperationLogger } from '@baton/plugin-sdk';

/** A program that writes without end must not fill the log of the manager. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Passes lines of a command on to the log, up to 4 MiB for an operation. */
export function lineLog(log: OperationLogger): (line: string, stream: 'stdout' | 'stderr') => void {
  let left = MAX_BYTES;
  return (line, stream) => {
    if (left <= 0) return;
    left -= line.length + 1;
    if (left > 0) log.info(stream === 'stdout' ? `[out] ${line}` : `[err] ${line}`);
    else log.warning('the output is longer than 4 MiB: the rest is not logged');
  };
}
