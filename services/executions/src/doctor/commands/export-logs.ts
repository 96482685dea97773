import type { Ports } from '../../ports';
import type { DoctorPart } from '../adapters/doctor-parts';
import { BATCH, type BundleLine, eventsAfter, executionsAfter } from '../queries/bundle-lines';
import { type RunDoctorDeps, runDoctor } from './run-doctor';

export type ExportLogsDeps = Pick<Ports, 'db'> & RunDoctorDeps;

interface Piece {
  file: string;
  data: Buffer;
}

/**
 * Yields the part of a log bundle about executions (reference/rest-api.md 5.13), a batch in memory at a time: findings of the
 * doctor, executions of every tenant, and their events and log lines. Parameters are left out: they may hold secrets.
 */
export async function* exportLogs(
  deps: ExportLogsDeps,
  doctorParts: readonly DoctorPart[] = [],
): AsyncGenerator<Piece> {
  yield { file: 'doctor.jsonl', data: linesOf(await runDoctor(deps, false, doctorParts)) };
  yield* pieces('executions.jsonl', (after) => executionsAfter(deps.db.query, after));
  yield* pieces('events.jsonl', (after) => eventsAfter(deps.db.query, after));
}

async function* pieces(
  file: string,
  next: (after: [string, string] | null) => Promise<BundleLine[]>,
): AsyncGenerator<Piece> {
  let after: [string, string] | null = null;
  for (;;) {
    const rows: BundleLine[] = await next(after);
    if (rows.length > 0) yield { file, data: linesOf(rows.map((row) => row.line)) };
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.key;
  }
}

const linesOf = (lines: readonly object[]): Buffer =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), 'utf8');
