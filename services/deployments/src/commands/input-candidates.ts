import { parseConstraints } from '@baton/contracts';
import type { ParsedPlan, PlanNode, ValueGetter } from '@baton/dsl';
import type { Json, JsonObject } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { fitsRule } from '../domain/rule-match';
import { evaluateOf } from '../queries/evaluate-outputs';
import { principalOf } from '../queries/group-members';
import { type DeploymentRow, findDeployment } from '../store/deployments.sql';
import { readModel } from './modifications';

type Deps = Pick<ServiceDeps, 'db' | 'documents' | 'catalog' | 'secrets'>;

interface Request {
  tenant: string;
  plan: JsonObject;
  caller: { username: string; isAdministrator: boolean };
}

/** Constraints of a search that are patterns of names, with their names in packages/dsl. */
const SPECS = /_specs$/;

/**
 * Returns the values that an input of an object type may have (reference/dsl.md 3.3), limited to objects that the creator of the
 * deployment sees. Parts of a blueprint are looked up in the plan, unless a constraint names a deployment. Constraints on labels,
 * filters and tenants only limit what clients offer; they are not checked again here.
 */
export function inputCandidates(deps: Deps, request: Request): ValueGetter {
  return async (type, value, query) => {
    const names = await namesOf(deps, request, type, value, query);
    const patterns = Object.entries(query).find(([name]) => SPECS.test(name));
    if (!patterns) return names;
    const { rules } = parseConstraints({ name_pattern: patterns[1] }, { nameAttribute: 'name' });
    return names.filter((name) => rules.every((rule) => fitsRule(rule, [String(name)])));
  };
}

async function namesOf(
  deps: Deps,
  { tenant, plan, caller }: Request,
  type: string,
  value: Json,
  query: Readonly<Record<string, Json>>,
): Promise<Json[]> {
  const name = String(value);
  const existing = (isThere: boolean): Json[] => (isThere ? [value] : []);
  const principal = principalOf(tenant, caller);
  if (type === 'blueprint_id') return existing((await deps.catalog.blueprint(tenant, name, caller)) !== null);
  if (type === 'deployment_id')
    return existing((await findDeployment(deps.db.query, principal, name)) !== null);
  if (type === 'secret_key') {
    const { missing } = await deps.secrets.read(tenant, [name], caller);
    return existing(missing.length === 0);
  }
  const { deployment_id: of } = query;
  if (of === undefined) return namesIn(type, plan as unknown as ParsedPlan);
  // A function: the deployment is not known yet.
  if (typeof of !== 'string') return [value];
  const row = await findDeployment(deps.db.query, principal, of);
  return row ? namesOfDeployment(deps, row, caller, type) : [];
}

async function namesOfDeployment(
  deps: Deps,
  row: DeploymentRow,
  caller: Request['caller'],
  type: string,
): Promise<Json[]> {
  if (type === 'capability_value')
    return Object.values(
      await evaluateOf(deps, row, caller, 'capabilities', 'deployment_capabilities_evaluation_error'),
    );
  const model = await deps.db.tx((tx) => readModel(deps, tx, row.key));
  if (type === 'node_instance') return model.instances.map(({ id }) => id);
  return namesIn(type, { nodes: model.planNodes, scaling_groups: model.groups });
}

function namesIn(
  type: string,
  { nodes, scaling_groups }: Pick<ParsedPlan, 'nodes' | 'scaling_groups'>,
): string[] {
  if (type === 'node_id') return nodes.map(({ id }) => id);
  if (type === 'node_type') return nodes.flatMap((node) => node.type_hierarchy);
  if (type === 'scaling_group') return Object.keys(scaling_groups ?? {});
  return type === 'operation_name' ? nodes.flatMap(operationsOf) : [];
}

const operationsOf = (node: PlanNode): string[] => [
  ...Object.keys(node.operations),
  ...node.relationships.flatMap((relationship) => [
    ...Object.keys(relationship.source_operations ?? {}),
    ...Object.keys(relationship.target_operations ?? {}),
  ]),
];
