import type { ArchiveRecord, Skipped, SkipReason } from './record';

export interface TypeCount {
  /** Objects met in the archive: `yielded` and all of `skipped` together. */
  read: number;
  yielded: number;
  skipped: Partial<Record<SkipReason, number>>;
}

/** Counts what was read; complete when the records have been read to their end. */
export class Tally {
  readonly types = new Map<string, TypeCount>();
  /** How often a field was met that the shape of a type does not know, by `type.field`; at most 1000 of them. */
  readonly unknownFields = new Map<string, number>();
  /** By code. */
  readonly notes = new Map<string, number>();
  /** Statements of a dump that were not run, by their beginning; at most 100 of them. */
  readonly statements = new Map<string, number>();

  constructor(private readonly onSkip: (skipped: Skipped) => void = () => undefined) {}

  #type(type: string): TypeCount {
    let count = this.types.get(type);
    if (!count) this.types.set(type, (count = { read: 0, yielded: 0, skipped: {} }));
    return count;
  }

  yielded(record: ArchiveRecord): void {
    const count = this.#type(record.type);
    count.read++;
    count.yielded++;
    for (const field of Object.keys(record.unknown))
      bump(this.unknownFields, `${record.type}.${field}`, 1000);
    for (const { code } of record.notes) bump(this.notes, code, 100);
  }

  skip(skipped: Skipped): void {
    this.skipMany(skipped, 1);
    this.onSkip(skipped);
  }

  /** Objects that are not reported one by one. */
  skipMany({ type, reason }: Pick<Skipped, 'type' | 'reason'>, count: number): void {
    const of = this.#type(type);
    of.read += count;
    of.skipped[reason] = (of.skipped[reason] ?? 0) + count;
  }

  statement(beginning: string): void {
    bump(this.statements, beginning, 100);
  }
}

function bump(counts: Map<string, number>, key: string, max: number): void {
  if (counts.has(key) || counts.size < max) counts.set(key, (counts.get(key) ?? 0) + 1);
}
