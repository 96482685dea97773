import { createHash } from 'node:crypto';
import type { Tally } from '@baton/cloudify-archive';
import { noCounts, type TypeCounts, type Verdict } from './import.machine';

/** Reasons of the reader that are no loss: the object is there in another place, or is none that a manager needs. */
const HARMLESS: ReadonlySet<string> = new Set(['replaced', 'repeated', 'deleted-in-dump', 'not-carried']);
export const isLoss = (reason: string): boolean => !HARMLESS.has(reason);

/** Fates by type. The sum of the fates of each type must be what was read of it: no record may be forgotten silently. */
export class ReportCounts {
  readonly #types = new Map<string, TypeCounts>();
  readonly #staged = new Map<string, number>();

  of(type: string): TypeCounts {
    let counts = this.#types.get(type);
    if (!counts) this.#types.set(type, (counts = noCounts(type)));
    return counts;
  }

  staged(type: string): void {
    this.#staged.set(type, (this.#staged.get(type) ?? 0) + 1);
  }

  leftOut(type: string): void {
    this.of(type).skipped++;
  }

  lost(type: string): void {
    this.of(type).lost++;
  }

  /** What the reader met and did not give. */
  addTally(tally: Pick<Tally, 'types'>): void {
    for (const [type, { read, skipped }] of tally.types) {
      const counts = this.of(type);
      counts.read += read;
      for (const [reason, count] of Object.entries(skipped))
        counts[isLoss(reason) ? 'lost' : 'skipped'] += count;
    }
  }

  /** What a service made of the records that it was given. */
  addOutcome(outcome: TypeCounts): void {
    const staged = this.#staged.get(outcome.type) ?? 0;
    if (outcome.read !== staged)
      throw new Error(`${staged} records of ${outcome.type} were staged, and ${outcome.read} were taken`);
    this.#staged.delete(outcome.type);
    const counts = this.of(outcome.type);
    for (const fate of ['imported', 'same', 'skipped', 'replaced', 'lost', 'conflicts'] as const)
      counts[fate] += outcome[fate];
  }

  /** @throws Error where records are not accounted for: a fault of this program */
  close(): TypeCounts[] {
    for (const [type, count] of this.#staged)
      throw new Error(`${count} records of ${type} were staged, and none were taken`);
    const all = [...this.#types.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
    for (const { type, read, ...fates } of all) {
      const told = Object.values(fates).reduce((sum, count) => sum + count, 0);
      if (told !== read) throw new Error(`${read} records of ${type} were read, and ${told} accounted for`);
    }
    return all;
  }
}

export function verdictOf(
  counts: readonly TypeCounts[],
  found: { collisions: number; alteredValues: number },
): Verdict {
  if (found.collisions > 0 || counts.some(({ conflicts }) => conflicts > 0)) return 'refused';
  return found.alteredValues > 0 || counts.some(({ lost }) => lost > 0) ? 'losses' : 'clean';
}

/** What an apply is bound to. */
export function reportDigest(bound: {
  archive: string;
  options: unknown;
  met: Readonly<Record<string, string>>;
  counts: readonly TypeCounts[];
}): string {
  return createHash('sha256')
    .update(
      JSON.stringify([
        bound.archive,
        sorted(bound.options),
        sorted(bound.met),
        bound.counts.map((counts) => sorted(counts)),
      ]),
    )
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)]);
}
