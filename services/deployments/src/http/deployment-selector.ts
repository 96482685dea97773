import { type FilterRule, type ListQuery, type Principal, parseConstraints } from '@baton/contracts';
import { badParameter } from '@baton/kernel';
import { deploymentRules } from '../commands/filters';
import type { ServiceDeps } from '../deps';
import { membersOf } from '../queries/deployment-groups';
import { storedRules } from '../queries/filters';
import type { DeploymentSelector } from '../queries/list-deployments';
import { answerScheduleRules } from '../queries/scheduled-deployments';

/** Combines the rules of `_filter_id`, of a body's filter_rules and of its constraints (reference/rest-api.md 5.11). */
export async function deploymentSelector(
  deps: Pick<ServiceDeps, 'db' | 'executions'>,
  principal: Principal,
  list: ListQuery,
  body: { filter_rules?: unknown; constraints?: unknown } = {},
  { skipsUnknown } = { skipsUnknown: false },
): Promise<DeploymentSelector> {
  const db = deps.db.query;
  if (body.filter_rules !== undefined && body.constraints !== undefined && body.constraints !== null) {
    throw badParameter('constraints', 'filter_rules and constraints cannot be given together', {
      expected: 'one of them',
    });
  }
  const constraints = body.constraints
    ? parseConstraints(body.constraints, {
        nameAttribute: 'display_name',
        nameAliases: ['display_name_specs'],
        extra: ['blueprint_id', 'deployment_id'],
        skipsUnknown,
      })
    : null;
  const given: FilterRule[] = body.filter_rules === undefined ? [] : deploymentRules(body.filter_rules);
  if (constraints) given.push(...constraints.rules, ...restRules(constraints.rest));
  const stored = [
    await storedRules(db, principal, list.extra._filter_id?.at(-1)),
    await storedRules(db, principal, constraints?.filterId),
  ].flatMap((rules) => rules ?? []);
  const tenant = list.allTenants || constraints?.tenants ? null : principal.tenant;
  const rules = await answerScheduleRules(deps.executions, tenant, [...given, ...stored]);
  const hasFilter = list.extra._filter_id !== undefined || constraints !== null;
  return {
    rules: rules.length > 0 || hasFilter ? rules : null,
    tenants: constraints?.tenants ?? null,
    where: await membersOf(db, principal, list.extra._group_id?.at(-1)),
  };
}

function restRules(rest: Record<string, unknown>): FilterRule[] {
  return Object.entries(rest).map(([name, value]): FilterRule => {
    const values = Array.isArray(value) ? value : [value];
    if (values.some((one) => typeof one !== 'string'))
      throw badParameter(`constraints.${name}`, `${name} must be a text or a list of texts`);
    return {
      key: name === 'deployment_id' ? 'id' : name,
      values: values as string[],
      operator: 'any_of',
      type: 'attribute',
    };
  });
}
