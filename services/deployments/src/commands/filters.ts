import {
  type FilterRule,
  filterRuleError,
  mergeFilterRules,
  ownershipOf,
  type Principal,
  parseFilterRules,
  requireOwnTenant,
  ruleAttributes,
  type Visibility,
  visibilityOfNew,
  widensVisibility,
} from '@baton/contracts';
import { AppError, badParameter, notFound } from '@baton/kernel';
import { type Db, isUniqueViolation } from '@baton/postgres';
import type { IdentityPort } from '../adapters/identity.client';
import {
  type FilterRow,
  findFilter,
  insertFilter,
  isFilterIdTakenElsewhere,
  lockFilter,
  deleteFilter as removeFilter,
  updateFilter as writeFilter,
} from '../store/filters.sql';
import type { DB } from '../store/tables.gen';
import { requireResourceId } from './resource-id';

interface Deps {
  db: Db<DB>;
  identity: IdentityPort;
}

/** Checks and returns rules for deployments. @throws AppError invalid_filter_rule, bad_parameters_error. */
export function deploymentRules(input: unknown): FilterRule[] {
  const rules = parseFilterRules(input, ruleAttributes.deployments);
  if (!rules.ok) throw filterRuleError(rules.error);
  for (const [index, rule] of rules.value.entries()) refuseUnknownStatus(rule, index);
  return rules.value;
}

/** Refuses values of installation_status other than its two words. */
function refuseUnknownStatus(rule: FilterRule, index: number): void {
  if (
    rule.type !== 'attribute' ||
    rule.key !== 'installation_status' ||
    !['any_of', 'not_any_of'].includes(rule.operator)
  )
    return;
  const bad = rule.values.find((value) => value !== 'active' && value !== 'inactive');
  if (bad === undefined) return;
  throw filterRuleError({
    rule,
    field: `filter_rules[${index}]`,
    reason: `installation_status is active or inactive, not ${bad}`,
  });
}

/** PUT /filters/deployments/{id} (reference/rest-api.md 5.11). */
export async function createFilter(
  deps: Deps,
  principal: Principal,
  id: string,
  body: { filter_rules?: unknown; visibility?: Visibility; created_at?: string; created_by?: string },
): Promise<void> {
  requireResourceId('filter id', id);
  if (/^csys-/i.test(id))
    throw badParameter('id', 'Filter ids that begin with csys- are reserved', {
      expected: 'an id without this prefix',
    });
  const rules = deploymentRules(body.filter_rules);
  const visibility = visibilityOfNew(principal, body.visibility, undefined);
  const owner = await ownershipOf(principal, body, deps.identity.findUser);
  await deps.db
    .tx(async (tx) => {
      if (await isFilterIdTakenElsewhere(tx, principal.tenant, id, visibility === 'global')) throw taken(id);
      await insertFilter(tx, {
        tenant: principal.tenant,
        id,
        value: rules,
        visibility,
        createdBy: owner.createdBy,
        createdAt: owner.createdAt,
      });
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? taken(id) : error;
    });
}

/** PATCH: rules of one kind replace only the rules of that kind; rules of both kinds replace all. */
export async function updateFilter(
  deps: Deps,
  principal: Principal,
  id: string,
  body: { filter_rules?: unknown; visibility?: Visibility },
): Promise<void> {
  if (body.filter_rules === undefined && body.visibility === undefined) {
    throw new AppError('illegal_action_error', 'The body names nothing to change', {
      expected: ['filter_rules', 'visibility'],
    });
  }
  await deps.db.tx(async (tx) => {
    const filter = await ownFilter(tx, principal, id);
    const rules = body.filter_rules === undefined ? null : deploymentRules(body.filter_rules);
    const visibility =
      body.visibility !== undefined && widensVisibility(principal, filter.visibility, body.visibility)
        ? body.visibility
        : undefined;
    if (visibility === 'global' && (await isFilterIdTakenElsewhere(tx, filter.tenant, id, true)))
      throw taken(id);
    await writeFilter(tx, filter, {
      value: rules ? mergeFilterRules(filter.value, rules) : undefined,
      visibility,
    });
  });
}

export async function deleteFilter(deps: Deps, principal: Principal, id: string): Promise<void> {
  await deps.db.tx(async (tx) => removeFilter(tx, await ownFilter(tx, principal, id)));
}

async function ownFilter(
  tx: Parameters<typeof lockFilter>[0],
  principal: Principal,
  id: string,
): Promise<FilterRow> {
  const found = await findFilter(tx, principal, id);
  if (found?.is_system_filter)
    throw new AppError('illegal_action_error', `Filter \`${id}\` is a system filter and cannot be changed`);
  if (found) requireOwnTenant(principal, found.tenant, `Filter \`${id}\``);
  const filter = found && (await lockFilter(tx, found));
  if (!filter) throw notFound('DeploymentsFilter', id);
  return filter;
}

function taken(id: string): AppError {
  return new AppError('conflict_error', `DeploymentsFilter with ID \`${id}\` already exists`, {
    field: 'id',
  });
}
