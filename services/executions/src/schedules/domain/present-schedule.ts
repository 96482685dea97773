/** A schedule as REST shows it (spec v3.1 part 2 "ExecutionSchedule"); fields that were not selected stay away. */
export function presentSchedule(
  row: Record<string, unknown>,
  wire: 'spec' | 'cloudify',
): Record<string, unknown> {
  // The original has no value where no parameters were given.
  if (wire === 'spec' && 'parameters' in row) return { ...row, parameters: row.parameters ?? {} };
  return row;
}

/** `YYYY-MM-DD HH:MM:SS` in UTC. */
export function plainTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
