const STEP = 2;

/** Returns the indentation of the YAML line after `line`: deeper after a key without a value; behind the dash after a list item. */
export function nextIndent(line: string): number {
  const lead = /^\s*(?:- +)*/.exec(line)![0].length;
  return /:\s*(?:#.*)?$/.test(line) ? lead + STEP : lead;
}
