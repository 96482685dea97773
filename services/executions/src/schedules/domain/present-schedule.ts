/** Formats a time as `YYYY-MM-DD HH:MM:SS` in UTC. */
export function plainTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
