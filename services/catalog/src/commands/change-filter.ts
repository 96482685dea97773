/** Stored filters of blueprints (reference/rest-api.md 5.11). */
import {
  type FilterRule,
  type FindUser,
  filterRuleError,
  mergeFilterRules,
  ownershipOf,
  type Principal,
  parseFilterRules,
  requireOwnTenant,
  ruleAttributes,
  type Visibility,
  widensVisibility,
} from '@baton/contracts';
import { AppError, badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { getFilter } from '../queries/read-filters';
import {
  deleteFilter,
  type FilterHead,
  findFilters,
  insertFilter,
  lockFilterId,
  updateFilter,
} from '../store/filters.sql';
import type { DB } from '../store/tables.gen';

function checkedRules(input: unknown): FilterRule[] {
  const rules = parseFilterRules(input, ruleAttributes.blueprints);
  if (!rules.ok) throw filterRuleError(rules.error);
  return rules.value;
}

function taken(id: string): AppError {
  return new AppError('conflict_error', `Filter with ID \`${id}\` already exists`, { id });
}

export async function createFilter(
  { db, findUser }: { db: Db<DB>; findUser: FindUser },
  principal: Principal,
  id: string,
  input: { filter_rules: unknown; created_at?: string; created_by?: string },
  visibility: Visibility,
): Promise<void> {
  if (/^csys-/i.test(id))
    throw badParameter('filter_id', 'filter ids that begin with csys- are reserved', {
      expected: 'another prefix',
    });
  if (input.filter_rules === undefined)
    throw badParameter('filter_rules', 'filter_rules is missing', { expected: 'a list of filter rules' });
  const value = checkedRules(input.filter_rules);
  const owner = await ownershipOf(principal, input, findUser);
  await db.tx(async (tx) => {
    await lockFilterId(tx, id);
    const rivals = await findFilters(tx, id);
    if (
      rivals.some(
        (f) => f.tenant === principal.tenant || f.visibility === 'global' || visibility === 'global',
      )
    )
      throw taken(id);
    await insertFilter(tx, {
      tenant: principal.tenant,
      id,
      value,
      created_by: owner.createdBy,
      created_at: owner.createdAt,
      visibility,
    });
  });
}

function requireChangeable(head: FilterHead): void {
  if (head.is_system_filter)
    throw new AppError(
      'illegal_action_error',
      `Filter \`${head.id}\` is a system filter and cannot be changed`,
    );
}

async function lockOwn(db: Db<DB>, principal: Principal, id: string): Promise<void> {
  const row = await getFilter(db.query, principal, id);
  requireOwnTenant(principal, String(row.tenant_name), `filter \`${id}\``);
}

export async function patchFilter(
  db: Db<DB>,
  principal: Principal,
  id: string,
  body: { filter_rules?: unknown; visibility?: Visibility },
): Promise<void> {
  if (body.filter_rules === undefined && body.visibility === undefined) {
    throw new AppError('illegal_action_error', 'The body changes nothing', {
      expected: ['filter_rules', 'visibility'],
    });
  }
  await lockOwn(db, principal, id);
  const rules = body.filter_rules === undefined ? null : checkedRules(body.filter_rules);
  await db.tx(async (tx) => {
    await lockFilterId(tx, id);
    const all = await findFilters(tx, id);
    const head = all.find((f) => f.tenant === principal.tenant);
    if (head === undefined) return;
    requireChangeable(head);
    const { visibility } = body;
    const isWider = visibility !== undefined && widensVisibility(principal, head.visibility, visibility);
    if (isWider && visibility === 'global' && all.length > 1) throw taken(id);
    await updateFilter(tx, principal.tenant, id, {
      ...(rules ? { value: mergeFilterRules(head.value, rules) } : {}),
      ...(isWider ? { visibility } : {}),
    });
  });
}

export async function removeFilter(db: Db<DB>, principal: Principal, id: string): Promise<void> {
  await lockOwn(db, principal, id);
  await db.tx(async (tx) => {
    const head = (await findFilters(tx, id)).find((f) => f.tenant === principal.tenant);
    if (head === undefined) return;
    requireChangeable(head);
    await deleteFilter(tx, principal.tenant, id);
  });
}
