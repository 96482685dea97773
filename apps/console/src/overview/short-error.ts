/** Shortens an error to one line for a list. The execution's screen shows the whole text. */

const MOST_CHARACTERS = 300;

/** Returns the last line of a Python traceback, which contains the cause; of any other text the first line. */
export function shortError(text: string | null | undefined): string {
  const lines = (text ?? '').split('\n').filter((line) => line.trim() !== '');
  const isTraceback = /^Traceback \(most recent call last\)/.test(lines[0]?.trim() ?? '');
  const line = (isTraceback ? lines.at(-1) : lines[0])?.trim() ?? '';
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}
