import type { Outcome, Row } from './row';

export interface Result extends Outcome {
  row: Row;
  seconds: number;
  /** Diagnosis of the rig when the row did not finish in time. */
  diagnosis: string[];
}

export const hasPassed = (result: Result): boolean => result.violations.length === 0;

/** True when the floor of the row is all that was missed (`floor:` begins such a violation): nothing broke, nothing is proved. */
export const isWithoutProof = ({ violations }: Result): boolean =>
  violations.length > 0 && violations.every((violation) => violation.startsWith('floor:'));

const INDENT = ' '.repeat(8);
const MOST = 12;

/** Prints one row when it has finished. */
export function printResult(result: Result): void {
  const { row, violations, facts, seconds, diagnosis } = result;
  const verdict = hasPassed(result) ? 'passed' : 'FAILED';
  const shown = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  console.log(`${verdict}  ${row.id.padEnd(5)} ${seconds.toFixed(1).padStart(6)} s  ${row.title}`);
  console.log(`${INDENT}must hold: ${row.pass}`);
  if (shown.length > 0) console.log(`${INDENT}seen: ${shown.join(', ')}`);
  for (const violation of violations.slice(0, MOST)) console.log(`${INDENT}! ${violation}`);
  if (violations.length > MOST) console.log(`${INDENT}! and ${violations.length - MOST} more`);
  for (const line of diagnosis) console.log(`${INDENT}| ${line}`);
}

/** Prints the table at the end. */
export function printTable(results: readonly Result[]): void {
  console.log('\nrow    result   seconds  executions  operations  repeated  fault');
  for (const result of results) {
    const { row, facts, seconds } = result;
    const cell = (name: string, width: number): string => String(facts[name] ?? '-').padStart(width);
    const verdict = hasPassed(result) ? 'passed' : 'FAILED';
    console.log(
      `${row.id.padEnd(6)} ${verdict}  ${seconds.toFixed(1).padStart(8)}  ${cell('executions', 10)}  ` +
        `${cell('operations', 10)}  ${cell('repeated', 8)}  ${row.title}`,
    );
  }
}

/** Returns one JSON document about the whole run. */
export function asJson(results: readonly Result[], seed: number): string {
  const rows = results.map(({ row, violations, facts, seconds, diagnosis }) => ({
    id: row.id,
    title: row.title,
    pass: row.pass,
    passed: violations.length === 0,
    seconds: Number(seconds.toFixed(1)),
    facts,
    violations,
    diagnosis,
  }));
  const failed = rows.filter((row) => !row.passed).length;
  return JSON.stringify({ seed, passed: rows.length - failed, failed, rows }, null, 2);
}
