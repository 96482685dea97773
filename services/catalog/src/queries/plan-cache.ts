import { FOLDED_PREFIX, RawJson, unfoldedJson } from '@baton/kernel';
import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';

const CACHE_BYTES = 32 * 1024 * 1024;
/** Most cached plans: their digests are parameters of every statement. */
const MOST_PLANS = 256;

/** Texts of plans by digest, which never changes its meaning: plans are most of the bytes of a page (50 plans: 7 MB). */
export type PlanCache = LRUCache<string, RawJson>;

export function createPlanCache(): PlanCache {
  return new LRUCache({
    max: MOST_PLANS,
    maxSize: CACHE_BYTES,
    sizeCalculation: (plan) => Math.max(1, plan.bytes.length),
  });
}

/** Cache entry for a plan that is too large for lists. */
const LEFT_OUT = new RawJson('null');

/** Selects a plan as text; null (as JSON) for a folded plan. */
export const shortPlan = sql`case when left(b.plan::text, ${sql.lit(FOLDED_PREFIX.length)}) = ${sql.lit(FOLDED_PREFIX)} then 'null' else b.plan::text end`;

/** A row as selected: its plan as text, unless the cache has it. */
export interface SelectedPlan {
  plan?: string | null;
  digest_?: string | null;
}

/** Returns a stored plan for an answer. */
const shown = (text: string): RawJson => (text === 'null' ? LEFT_OUT : unfoldedJson(text));

/**
 * Makes the columns with which a page selects plans in the same statement as its rows: the digests, and the texts that are not in
 * the cache. `put` adds the cached plans to the rows. Folded plans are null unless the request asks for the plan by name.
 */
export function planColumns(
  cache: PlanCache,
  isAsked: boolean,
): {
  columns: Record<'plan' | 'digest_', RawBuilder<unknown>>;
  put<Row extends SelectedPlan>(rows: readonly Row[]): Record<string, unknown>[];
} {
  const known = new Map(cache.entries());
  if (isAsked) for (const [digest, plan] of known) if (plan === LEFT_OUT) known.delete(digest);
  const isKnown = known.size === 0 ? sql`false` : sql`b.digest = any(${[...known.keys()]}::text[])`;
  const text = isAsked ? sql`b.plan::text` : shortPlan;
  return {
    columns: { plan: sql`case when ${isKnown} then null else ${text} end`, digest_: sql`b.digest` },
    put: (rows) =>
      rows.map(({ digest_: digest, ...row }) => {
        const found = digest ? known.get(digest) : undefined;
        // `get` marks the entry as used.
        if (found) return { ...row, plan: cache.get(digest!) ?? found };
        if (typeof row.plan !== 'string') return row;
        const plan = shown(row.plan);
        // A plan in parts is not cached: its bytes would be those of the whole plan.
        if (digest && plan.parts.length === 0) {
          known.set(digest, plan);
          cache.set(digest, plan);
        }
        return { ...row, plan };
      }),
  };
}
