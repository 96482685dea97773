/** Combines the rules of a list or search of blueprints: those of a stored filter and those of the request. */
import {
  type FilterRule,
  filterRuleError,
  type Principal,
  parseConstraints,
  parseFilterRules,
  ruleAttributes,
} from '@baton/contracts';
import { AppError, notFound } from '@baton/kernel';
import { type Db, visibilityScope } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../store/tables.gen';

/** Returns the rules of a stored filter that `principal` may see. @throws AppError not_found_error */
async function storedRules(
  db: Db<DB>['query'],
  principal: Principal,
  filterId: string,
): Promise<FilterRule[]> {
  const scope = visibilityScope(principal, 'f');
  const { rows } = await sql<{ value: FilterRule[] }>`
    select f.value from blueprint_filters f where f.id = ${filterId} and ${scope} order by f.tenant = ${principal.tenant} desc limit 1`.execute(
    db,
  );
  if (rows[0] === undefined) throw notFound('Filter', filterId);
  return rows[0].value;
}

export interface SearchRules {
  /** Null: no rules were given, so the answer counts nothing as filtered. */
  rules: FilterRule[] | null;
  tenants: string[] | null;
}

export async function listRules(
  db: Db<DB>['query'],
  principal: Principal,
  filterIds: readonly string[] | undefined,
): Promise<FilterRule[] | null> {
  const id = filterIds?.at(-1);
  return id === undefined || id === '' ? null : storedRules(db, principal, id);
}

function given(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns the rules of POST /searches/blueprints (reference/rest-api.md 5.11). @throws AppError */
export async function searchRules(
  db: Db<DB>['query'],
  principal: Principal,
  body: { filter_rules?: unknown; constraints?: unknown },
  filterIds: readonly string[] | undefined,
  { skipsUnknown }: { skipsUnknown: boolean },
): Promise<SearchRules> {
  if (given(body.filter_rules) && given(body.constraints)) {
    throw new AppError('bad_parameters_error', 'filter_rules and constraints cannot be given together', {
      field: 'constraints',
      expected: 'one of both',
    });
  }
  const stored = await listRules(db, principal, filterIds);
  if (given(body.constraints)) {
    const constraints = parseConstraints(body.constraints, { nameAttribute: 'id', skipsUnknown });
    const more = constraints.filterId === null ? [] : await storedRules(db, principal, constraints.filterId);
    return { rules: [...(stored ?? []), ...constraints.rules, ...more], tenants: constraints.tenants };
  }
  if (!given(body.filter_rules)) return { rules: stored, tenants: null };
  const rules = parseFilterRules(body.filter_rules, ruleAttributes.blueprints);
  if (!rules.ok) throw filterRuleError(rules.error);
  return { rules: [...(stored ?? []), ...rules.value], tenants: null };
}
