import { RawJson } from '@baton/kernel';
import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';

const CACHE_BYTES = 32 * 1024 * 1024;
/** Their digests go with the statement. */
const MOST_PLANS = 256;

/** Texts of plans by the digest that names them forever: those of a page are most of its bytes (50 plans: 7 MB). */
export type PlanCache = LRUCache<string, RawJson>;

export function createPlanCache(): PlanCache {
  return new LRUCache({
    max: MOST_PLANS,
    maxSize: CACHE_BYTES,
    sizeCalculation: (plan) => Math.max(1, plan.bytes.length),
  });
}

/** A row as it was selected: its plan as text, unless the cache has it. */
export interface SelectedPlan {
  plan?: string | null;
  digest_?: string | null;
}

/**
 * What a page selects of plans, in the same statement as its rows: the digests, and the texts that are not at hand yet.
 * `put` makes rows whole again.
 */
export function planColumns(cache: PlanCache): {
  columns: Record<'plan' | 'digest_', RawBuilder<unknown>>;
  put<Row extends SelectedPlan>(rows: readonly Row[]): Record<string, unknown>[];
} {
  const known = new Map(cache.entries());
  const isKnown = known.size === 0 ? sql`false` : sql`b.digest = any(${[...known.keys()]}::text[])`;
  return {
    columns: { plan: sql`case when ${isKnown} then null else b.plan::text end`, digest_: sql`b.digest` },
    put: (rows) =>
      rows.map(({ digest_: digest, ...row }) => {
        const found = digest ? known.get(digest) : undefined;
        // Marks it as used.
        if (found) return { ...row, plan: cache.get(digest!) ?? found };
        if (typeof row.plan !== 'string') return row;
        const plan = new RawJson(row.plan);
        if (digest) {
          known.set(digest, plan);
          cache.set(digest, plan);
        }
        return { ...row, plan };
      }),
  };
}
