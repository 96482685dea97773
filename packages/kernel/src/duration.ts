const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Parses a text such as `250ms`, `15s`, `5m`, `10h`, `2d` into milliseconds; a bare number means milliseconds.
 * @throws RangeError when the text has another form.
 */
export function parseDurationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  if (!match) throw new RangeError(`not a duration: "${text}" (expected a number with ms, s, m, h or d)`);
  return Math.round(Number(match[1]) * UNIT_MS[(match[2] ?? 'ms') as keyof typeof UNIT_MS]);
}
