import type { Db } from '@baton/postgres';
import { type SealedKind, sealedKinds, sealedTexts, writeResealed } from '../store/sealed-texts.sql';
import type { DB } from '../store/tables.gen';
import type { TextSealPort } from '../webhooks/adapters/sealed-content';

const BATCH = 50;

/** Where a pass over all sealed texts has come to. */
export interface ResealPlace {
  kind: SealedKind;
  after: string;
}

export const FIRST_PLACE: ResealPlace = { kind: sealedKinds[0]!, after: '' };

/**
 * Seals texts anew that a former master key has sealed, at most 50 a call. A text that changed meanwhile keeps its change. A text
 * that no configured key opens stays: its webhook is disabled at the next delivery, with the reason. *Crash:* the next pass begins anew.
 * @returns the place to go on at (null: the pass is over), and how many texts were moved.
 */
export async function resealTexts(
  { db, seals }: { db: Db<DB>; seals: TextSealPort },
  { kind, after }: ResealPlace,
): Promise<{ next: ResealPlace | null; moved: number }> {
  const rows = await sealedTexts(db.query, kind, after, BATCH);
  let moved = 0;
  for (const row of rows) {
    const opened = await seals.open(row.of, row.sealed);
    if (!opened?.isOutdated) continue;
    const sealed = await seals.seal(row.of, opened.text);
    if (await writeResealed(db.query, kind, row, sealed)) moved++;
  }
  if (rows.length === BATCH) return { next: { kind, after: rows.at(-1)!.key }, moved };
  const nextKind = sealedKinds[sealedKinds.indexOf(kind) + 1];
  return { next: nextKind === undefined ? null : { kind: nextKind, after: '' }, moved };
}
