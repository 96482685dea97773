import { writeSync } from 'node:fs';

/**
 * Writes to the standard error output. The output may be a file on a full disk, or a pipe that nobody reads any more: then the text is
 * lost, and the program goes on.
 */
export function complain(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // There is no other place to say it.
  }
}
