/** Converts `2026-11-21T02:46:17.123Z` to `2026-11-21 02:46:17.123000` (spec v2.1). */
export function legacyTime(iso: unknown): unknown {
  return typeof iso === 'string' ? `${iso.slice(0, 10)} ${iso.slice(11, 23)}000` : iso;
}
