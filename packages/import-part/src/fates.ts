import { createHash, type Hash } from 'node:crypto';
import type { importsRpc } from '@baton/contracts';
import type { Fate, FateKind, StagedRecord } from './importer';

/** How many lines one call writes. */
const FATES_A_WRITE = 1_000;

const COUNTED: Record<FateKind, keyof Omit<importsRpc.TypeOutcome, 'type' | 'read'>> = {
  imported: 'imported',
  same: 'same',
  skipped: 'skipped',
  replaced: 'replaced',
  lost: 'lost',
  conflict: 'conflicts',
};

/** Counts fates and keeps the lines of those that a reader of the report wants to see. */
export class FateBook {
  readonly #types = new Map<string, importsRpc.TypeOutcome>();
  readonly #met: Hash = createHash('sha256');
  #lines: string[] = [];
  #isOpen = false;
  readonly notes: string[] = [];

  constructor(private readonly write: (lines: readonly string[]) => Promise<void>) {}

  /** @throws Error when an importer does not answer for each record: none may be forgotten silently. */
  async add(
    type: string,
    tenant: string,
    records: readonly StagedRecord[],
    fates: readonly Fate[],
  ): Promise<void> {
    if (fates.length !== records.length)
      throw new Error(`importer of ${type} answered ${fates.length} fates for ${records.length} records`);
    const counts = this.#countsOf(type);
    for (const [i, one] of fates.entries()) {
      counts.read++;
      counts[COUNTED[one.fate]]++;
      if (one.met !== undefined) this.#met.update(JSON.stringify([type, tenant, one.id, one.met]));
      const isPlain = (one.fate === 'imported' || one.fate === 'same') && one.code === undefined;
      if (isPlain) continue;
      const { met: _, ...told } = one;
      this.#lines.push(JSON.stringify({ type, tenant, ...told, place: records[i]!.place }));
      if (this.#lines.length >= FATES_A_WRITE) await this.#flush();
    }
  }

  /** Writes the rest; returns the counts and the digest of what the records have met. */
  async close(): Promise<importsRpc.ImportOutcome> {
    if (this.#lines.length > 0 || !this.#isOpen) await this.#flush();
    return { types: [...this.#types.values()], metDigest: this.#met.digest('hex'), notes: this.notes };
  }

  async #flush(): Promise<void> {
    this.#isOpen = true;
    await this.write(this.#lines);
    this.#lines = [];
  }

  #countsOf(type: string): importsRpc.TypeOutcome {
    const known = this.#types.get(type);
    if (known) return known;
    const fresh = { type, read: 0, imported: 0, same: 0, skipped: 0, replaced: 0, lost: 0, conflicts: 0 };
    this.#types.set(type, fresh);
    return fresh;
  }
}
