/** Characters for the scanner: codes of UTF-16 units, NaN after the end. */

export const NL = 10;
export const SPACE = 32;
export const TAB = 9;

export const isBlank = (c: number): boolean => c === SPACE || c === NL || c === TAB || Number.isNaN(c);
/** `, [ ] { }` */
export const isFlowIndicator = (c: number): boolean =>
  c === 44 || c === 91 || c === 93 || c === 123 || c === 125;

/** `# & * ! | > ' " % @` and the backtick. */
const INDICATORS = new Set([35, 38, 42, 33, 124, 62, 39, 34, 37, 64, 96]);

/** Whether an unquoted text may begin with `c`, followed by `next`. */
export function startsPlain(c: number, next: number, isInFlow: boolean): boolean {
  if (c === 45) return !isBlank(next);
  if (c === 63 || c === 58) return !isBlank(next) && !(isInFlow && isFlowIndicator(next));
  return !(isBlank(c) || isFlowIndicator(c) || INDICATORS.has(c));
}

/** Returns the end of the run of plain characters that begins at `from`. */
export function endOfPlain(text: string, from: number, isInFlow: boolean): number {
  if (text.charCodeAt(from) === 35) return from;
  let i = from;
  for (; ; i++) {
    const c = text.charCodeAt(i);
    if (c > 63 && c !== 91 && c !== 93 && c !== 123 && c !== 125) continue;
    if (c === SPACE || c === NL || c === TAB || Number.isNaN(c)) return i;
    if (c === 58) {
      const next = text.charCodeAt(i + 1);
      if (isBlank(next) || (isInFlow && isFlowIndicator(next))) return i;
    } else if (isInFlow && isFlowIndicator(c)) return i;
  }
}
