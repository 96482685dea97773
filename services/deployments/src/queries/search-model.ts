import {
  type FilterRule,
  filterRuleError,
  isAdministrator,
  type ListPage,
  type ListQuery,
  type Principal,
  parseConstraints,
  parseFilterRules,
  type RuleAttributes,
} from '@baton/contracts';
import { badParameter, isJsonObject, type JsonObject, notFound } from '@baton/kernel';
import { containsText } from '@baton/postgres';
import { sql } from 'kysely';
import type { ServiceDeps } from '../deps';
import { fitsRule } from '../domain/rule-match';
import { type DeploymentRow, deploymentScope, readPlan } from '../store/deployments.sql';
import { behalfOf, evaluateOf } from './evaluate-outputs';
import { modelPart } from './model-part';

/** Constraints of a search in a deployment's or blueprint's model (reference/rest-api.md 5.11). */
export interface ModelSearch {
  rules: FilterRule[];
  deploymentId: string | null;
  blueprintId: string | null;
}

/** The attributes that rules and constraints of a kind may name. */
export interface ModelKind {
  nameAttribute: string;
  needsModel: boolean;
  /** Attributes of filter rules (reference/rest-api.md 4.3); without them only constraints are accepted. */
  attributes?: RuleAttributes;
  /** Attribute that valid_values test; by default the name. */
  valuesAttribute?: string;
  /** valid_values may have any JSON type. */
  hasAnyValues?: boolean;
  /** Patterns of further attributes. */
  patterns?: Readonly<Record<string, string>>;
  /** Unknown constraints are ignored. */
  skipsUnknown?: boolean;
}

/**
 * Reads rules or constraints from the body; deployment_id and blueprint_id may also be in the query.
 * @throws AppError bad_parameters_error, invalid_filter_rule
 */
export function readModelSearch(
  body: { filter_rules?: unknown; constraints?: unknown },
  list: ListQuery,
  kind: ModelKind,
): ModelSearch {
  const given = givenRules(body, kind.attributes);
  const constraints = parseConstraints(body.constraints ?? {}, {
    nameAttribute: kind.nameAttribute,
    nameAliases: ['id_specs', 'type_specs', 'capability_key_specs', 'scaling_group_name_specs'],
    patterns: kind.patterns ?? {},
    valuesAttribute: kind.valuesAttribute ?? kind.nameAttribute,
    hasAnyValues: kind.hasAnyValues ?? false,
    extra: ['deployment_id', 'blueprint_id', 'node_id'],
    skipsUnknown: kind.skipsUnknown ?? false,
  });
  const search = {
    rules: [...given, ...constraints.rules],
    deploymentId: named('deployment_id', constraints.rest, list),
    blueprintId: named('blueprint_id', constraints.rest, list),
  };
  requireModel(search, kind.needsModel || constraints.rules.length > 0);
  return search;
}

/** Returns an id from the query or from the constraints, never from both; an empty id counts as none. */
function named(name: string, constraints: Record<string, unknown>, list: ListQuery): string | null {
  const asked = list.filters[name]?.[0] || null;
  const value = constraints[name];
  if (value === undefined) return asked;
  if (asked !== null)
    throw badParameter(`constraints.${name}`, `${name} is given in the query and in constraints`, {
      expected: 'one of them',
    });
  if (value !== null && typeof value !== 'string')
    throw badParameter(`constraints.${name}`, `${name} must be a text`, { expected: 'text' });
  return value || null;
}

function requireModel({ deploymentId, blueprintId }: ModelSearch, isNeeded: boolean): void {
  if (deploymentId !== null && blueprintId !== null)
    throw badParameter('blueprint_id', 'blueprint_id and deployment_id cannot be given together', {
      expected: 'one of them',
    });
  if (isNeeded && deploymentId === null && blueprintId === null)
    throw badParameter(
      'deployment_id',
      'deployment_id or blueprint_id is needed, in the query or in constraints',
      { expected: 'deployment_id' },
    );
}

function givenRules(
  { filter_rules: rules, constraints }: { filter_rules?: unknown; constraints?: unknown },
  attributes: RuleAttributes | undefined,
): FilterRule[] {
  if (rules === undefined || rules === null) return [];
  if (constraints !== undefined && constraints !== null)
    throw badParameter('constraints', 'filter_rules and constraints cannot be given together', {
      expected: 'one of them',
    });
  if (attributes === undefined)
    throw badParameter('filter_rules', 'this search takes no filter rules', { expected: 'constraints' });
  const parsed = parseFilterRules(rules, attributes);
  if (!parsed.ok) throw filterRuleError(parsed.error);
  return parsed.value;
}

function matches(rules: readonly FilterRule[], value: unknown): boolean {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return rules.every((rule) => fitsRule(rule, [text]));
}

function pageOf<T>(items: T[], list: ListQuery): ListPage<T> {
  return {
    items: list.getAll ? items : items.slice(list.offset, list.offset + list.size),
    total: items.length,
    // Recorded from the original, with and without rules.
    filtered: 0,
  };
}

/** Most deployments whose capabilities one search reads: each may cost rpc calls. */
const MAX_DEPLOYMENTS = 200;

/** Returns the deployments whose ids contain the text; it is no error when there are none. */
async function deploymentsLike(
  { db }: Pick<ServiceDeps, 'db'>,
  principal: Principal,
  list: ListQuery,
  text: string,
): Promise<DeploymentRow[]> {
  const { rows } = await sql<DeploymentRow>`
    select d.key, d.tenant, d.id, d.display_name, d.blueprint_id, d.created_by from deployments d
    where ${deploymentScope(principal, list.allTenants)} and ${containsText(sql`d.id`, text)}
    order by d.created_at, d.key limit ${MAX_DEPLOYMENTS}`.execute(db.query);
  return rows;
}

/**
 * POST /searches/capabilities: returns one item per deployment with a match, with evaluated values; valid_values test the value.
 */
export async function searchCapabilities(
  deps: ServiceDeps,
  principal: Principal,
  list: ListQuery,
  search: ModelSearch & { valueRules: FilterRule[] },
): Promise<ListPage<JsonObject>> {
  if (search.deploymentId === null)
    throw badParameter('deployment_id', 'deployment_id is needed', { expected: 'deployment_id' });
  const rows = await deploymentsLike(deps, principal, list, search.deploymentId);
  const found: JsonObject[] = [];
  for (const row of rows) {
    const definitions = ((await readPlan(deps.db.query, row.key))?.capabilities ?? {}) as JsonObject;
    const values = await evaluateOf(
      deps,
      row,
      behalfOf(principal),
      'capabilities',
      'deployment_capabilities_evaluation_error',
    );
    const hits = Object.keys(values).filter(
      (name) =>
        matches(search.rules, name) &&
        matches(search.valueRules, values[name]) &&
        (list.search === null || name.includes(list.search)),
    );
    if (hits.length === 0) continue;
    found.push({
      deployment_id: row.id,
      capabilities: hits.map((name) => {
        const definition = definitions[name];
        return { [name]: { ...(isJsonObject(definition) ? definition : {}), value: values[name]! } };
      }),
    });
  }
  return pageOf(found, list);
}

/** POST /searches/scaling-groups, of a deployment or of a blueprint's plan. */
export async function searchScalingGroups(
  deps: ServiceDeps,
  principal: Principal,
  list: ListQuery,
  search: ModelSearch,
): Promise<ListPage<JsonObject>> {
  const groups = await scalingGroups(deps, principal, list, search);
  const all = Object.entries(groups);
  const items = all
    .filter(
      ([name]) =>
        matches(search.rules, name) &&
        (list.search === null || name.toLowerCase().includes(list.search.toLowerCase())),
    )
    .map(([name, group]) => ({ deployment_id: null, name, ...(group as JsonObject) }));
  return { ...pageOf(items as JsonObject[], list), filtered: all.length - items.length };
}

async function scalingGroups(
  deps: ServiceDeps,
  principal: Principal,
  list: ListQuery,
  search: ModelSearch,
): Promise<JsonObject> {
  if (search.deploymentId !== null) {
    const rows = await deploymentsLike(deps, principal, list, search.deploymentId);
    const plans = await Promise.all(rows.map(({ key }) => readPlan(deps.db.query, key)));
    return Object.assign({}, ...plans.map((plan) => modelPart(plan?.scaling_groups))) as JsonObject;
  }
  const caller = { username: principal.username, isAdministrator: isAdministrator(principal) };
  const blueprint = await deps.catalog.blueprint(principal.tenant, search.blueprintId!, caller);
  if (!blueprint) throw notFound('Blueprint', search.blueprintId!);
  return modelPart(blueprint.plan.scaling_groups);
}
