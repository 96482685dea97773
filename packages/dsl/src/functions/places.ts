import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { ParsedPlan, PlanNode } from '../plan/plan';
import { asFunction, type FunctionCall } from './registry';

/** The place of a function, which determines the meaning of SELF, SOURCE and TARGET. */
export type Scope =
  | { kind: 'node'; node: string }
  | { kind: 'relationship'; node: string; target: string }
  | {
      kind: 'section';
      section: 'outputs' | 'policies' | 'scaling_groups' | 'capabilities' | 'labels' | 'deployment_settings';
    };

/** Changes the value at one place; returns the same value when nothing changed. */
export type PlaceVisitor = (value: Json, scope: Scope, path: string) => Promise<Json> | Json;

/** Calls `visit` for each function in `value`, outer calls before calls in their arguments. */
export function walkCalls(
  value: Json,
  path: string,
  visit: (call: FunctionCall, value: JsonObject, path: string) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) walkCalls(value[i]!, `${path}[${i}]`, visit);
    return;
  }
  const call = asFunction(value);
  if (call) visit(call, value, path);
  for (const key in value) {
    const inner = value[key]!;
    if (typeof inner === 'object' && inner !== null)
      walkCalls(inner, path === '' ? key : `${path}.${key}`, visit);
  }
}

/**
 * Caches which values contain functions. Plans share values between nodes, and preparation walks a plan several times:
 * each value is searched once.
 */
export class FunctionFinder {
  private readonly known = new WeakMap<object, boolean>();

  has(value: Json): boolean {
    if (typeof value !== 'object' || value === null) return false;
    let found = this.known.get(value);
    if (found === undefined) {
      found = this.search(value);
      this.known.set(value, found);
    }
    return found;
  }

  private search(value: Json[] | JsonObject): boolean {
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'object' && this.has(item)) return true;
      return false;
    }
    if (asFunction(value) !== null) return true;
    for (const key in value) {
      const inner = value[key]!;
      if (typeof inner === 'object' && this.has(inner)) return true;
    }
    return false;
  }
}

/**
 * Walks every place that may contain functions, in the order of reference 4 ("Where functions are looked for"), and
 * returns the plan with the results of `visit`. Unchanged parts are shared with the given plan.
 */
export async function mapPlaces<T extends ParsedPlan>(
  plan: T,
  visit: PlaceVisitor,
  finder: FunctionFinder = new FunctionFinder(),
): Promise<T> {
  const nodes: PlanNode[] = [];
  for (const node of plan.nodes)
    nodes.push(await mapNodeOperations(await mapNodeValues(node, visit, finder), visit, finder));
  const section = async <S extends object>(
    values: S,
    name: (Scope & { kind: 'section' })['section'],
    map: (value: Json, path: string) => Promise<Json>,
  ): Promise<S> =>
    (await mapEntries(values as unknown as JsonObject, (value, key) =>
      map(value, `${name}.${key}`),
    )) as unknown as S;
  const all =
    (name: (Scope & { kind: 'section' })['section']) =>
    async (value: Json, path: string): Promise<Json> =>
      finder.has(value) ? visit(value, { kind: 'section', section: name }, path) : value;
  const properties =
    (name: 'policies' | 'scaling_groups') =>
    async (value: Json, path: string): Promise<Json> =>
      mapKey(value as JsonObject, 'properties', (v) => all(name)(v, `${path}.properties`));
  const settings = finder.has(plan.deployment_settings)
    ? ((await visit(
        plan.deployment_settings,
        { kind: 'section', section: 'deployment_settings' },
        'deployment_settings',
      )) as JsonObject)
    : plan.deployment_settings;
  return {
    ...plan,
    nodes,
    outputs: await section(plan.outputs, 'outputs', all('outputs')),
    policies: await section(plan.policies, 'policies', properties('policies')),
    scaling_groups: await section(plan.scaling_groups, 'scaling_groups', properties('scaling_groups')),
    capabilities: await section(plan.capabilities, 'capabilities', all('capabilities')),
    labels: await section(plan.labels, 'labels', all('labels')),
    deployment_settings: settings,
  };
}

async function mapEntries(
  values: JsonObject,
  map: (value: Json, key: string) => Promise<Json>,
): Promise<JsonObject> {
  let result = values;
  for (const key of Object.keys(values)) {
    const value = values[key]!;
    const mapped = await map(value, key);
    if (mapped === value) continue;
    if (result === values) result = { ...values };
    result[key] = mapped;
  }
  return result;
}

async function mapKey<T extends JsonObject>(
  value: T,
  key: string,
  map: (value: Json) => Promise<Json>,
): Promise<T> {
  const old = value[key];
  if (old === undefined) return value;
  const mapped = await map(old);
  return mapped === old ? value : { ...value, [key]: mapped };
}

async function mapNodeValues(node: PlanNode, visit: PlaceVisitor, finder: FunctionFinder): Promise<PlanNode> {
  const scope: Scope = { kind: 'node', node: node.name };
  const path = `nodes.${node.name}`;
  let result = node;
  if (finder.has(node.properties)) {
    const properties = await mapEntries(node.properties, async (value, key) =>
      finder.has(value) ? visit(value, scope, `${path}.properties.${key}`) : value,
    );
    if (properties !== node.properties) result = { ...result, properties };
  }
  if (finder.has(node.capabilities as unknown as Json)) {
    const capabilities = await mapEntries(node.capabilities as unknown as JsonObject, async (value, key) =>
      finder.has(value) ? visit(value, scope, `${path}.capabilities.${key}`) : value,
    );
    result = { ...result, capabilities: capabilities as unknown as PlanNode['capabilities'] };
  }
  return result;
}

async function mapNodeOperations(
  node: PlanNode,
  visit: PlaceVisitor,
  finder: FunctionFinder,
): Promise<PlanNode> {
  let result = node;
  const path = `nodes.${node.name}`;
  const operations = await mapOperations(
    node.operations,
    { kind: 'node', node: node.name },
    `${path}.operations`,
    visit,
    finder,
  );
  if (operations !== node.operations) result = { ...result, operations };
  const relationships: PlanNode['relationships'] = [];
  let isChanged = false;
  for (const relationship of node.relationships) {
    const scope: Scope = { kind: 'relationship', node: node.name, target: relationship.target_id };
    const at = `${path}.${relationship.type}`;
    const source =
      relationship.source_operations &&
      (await mapOperations(relationship.source_operations, scope, at, visit, finder));
    const target =
      relationship.target_operations &&
      (await mapOperations(relationship.target_operations, scope, at, visit, finder));
    if (source === relationship.source_operations && target === relationship.target_operations)
      relationships.push(relationship);
    else {
      isChanged = true;
      relationships.push({ ...relationship, source_operations: source, target_operations: target });
    }
  }
  return isChanged ? { ...result, relationships } : result;
}

async function mapOperations(
  operations: JsonObject,
  scope: Scope,
  path: string,
  visit: PlaceVisitor,
  finder: FunctionFinder,
): Promise<JsonObject> {
  if (operations === undefined || !finder.has(operations)) return operations;
  return mapEntries(operations, async (operation, name) => {
    if (!isJsonObject(operation) || !finder.has(operation)) return operation;
    return mapKey(operation, 'inputs', async (inputs) =>
      isJsonObject(inputs)
        ? mapEntries(inputs, async (value, key) =>
            finder.has(value) ? visit(value, scope, `${path}.${name}.inputs.${key}`) : value,
          )
        : inputs,
    );
  });
}
