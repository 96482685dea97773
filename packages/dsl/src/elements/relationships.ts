import type { Json, JsonObject } from '@baton/kernel';
import { childOf, isNull, itemsOf, type MapNode, mapNode, type Node, textOf } from '../yaml/node';
import type { DataTypes } from './data-types';
import type { ElementContext } from './element-context';
import { mergeInterfaces } from './interfaces';
import { type Mappings, type ResolvedOperations, resolveOperations } from './operations';
import { jsonOf } from './properties';
import { fill, type ValueCheck } from './typed-value';
import {
  type PlainInterfaces,
  plainInterfaces,
  type RelationshipType,
  unknownRelationshipType,
} from './types';

const CONTAINED_IN = 'cloudify.relationships.contained_in';
const ON_LIFECYCLE_OPERATION = 'cloudify.relationships.depends_on_lifecycle_operation';
const LIFECYCLE = 'cloudify.interfaces.lifecycle';

/** A relationship of a node template in the form of the plan. */
export type PlanRelationship = {
  type: string;
  target_id: string;
  properties: JsonObject;
  source_interfaces: JsonObject;
  target_interfaces: JsonObject;
  type_hierarchy: string[];
  source_operations: JsonObject;
  target_operations: JsonObject;
};

export interface ParsedRelationship {
  plan: PlanRelationship;
  isContained: boolean;
  sourceUses: ResolvedOperations['uses'];
  targetUses: ResolvedOperations['uses'];
}

export interface RelationshipScope {
  context: ElementContext;
  dataTypes: DataTypes;
  mappings: Mappings;
  types: ReadonlyMap<string, RelationshipType>;
  templates: ReadonlyMap<string, Node>;
}

function isContainment(type: RelationshipType): boolean {
  return type.hierarchy.some((name) => name === CONTAINED_IN || name.endsWith(`--${CONTAINED_IN}`));
}

/** Parses the relationships of one node template (reference 2.6). */
export function parseRelationships(
  scope: RelationshipScope,
  name: string,
  template: MapNode,
  path: string,
): ParsedRelationship[] {
  const parsed: ParsedRelationship[] = [];
  const targets = new Map<string, number>();
  itemsOf(template.get('relationships')).forEach((node, i) => {
    if (node.kind !== 'map') return;
    const relationship = parseRelationship(scope, name, node, `${path}.relationships[${i}]`);
    if (relationship === null) return;
    parsed.push(relationship);
    const target = relationship.plan.target_id;
    if (targets.has(target)) {
      scope.context.diagnostics.report(
        'double_relationship',
        `"${name}" has several relationships to "${target}"; only the last one takes effect`,
        {
          at: childOf(node, 'target'),
          path: `${path}.relationships[${i}]`,
          expected: 'one relationship to each target',
        },
      );
    }
    targets.set(target, i);
  });
  const containers = parsed.filter((r) => r.isContained);
  if (containers.length > 1) {
    scope.context.diagnostics.report(
      'several_containers',
      `"${name}" is contained in several nodes: ${containers.map((r) => r.plan.target_id).join(', ')}`,
      {
        at: template.get('relationships'),
        path: `${path}.relationships`,
        expected: 'one contained_in relationship',
      },
    );
  }
  return parsed;
}

// eslint-disable-next-line max-lines-per-function -- one relationship, checked in the order of the reference
function parseRelationship(
  scope: RelationshipScope,
  source: string,
  node: MapNode,
  path: string,
): ParsedRelationship | null {
  const { context, types, templates } = scope;
  const typeName = textOf(node.get('type'));
  const target = textOf(node.get('target'));
  const known = typeName === undefined ? undefined : types.get(typeName);
  const type = known ?? unknownRelationshipType(typeName ?? '');
  if (type.isPartial) context.partialNodes.add(source);
  if (typeName !== undefined && !known) {
    context.diagnostics.report('unknown_relationship_type', `there is no relationship type "${typeName}"`, {
      at: node.get('type'),
      path: `${path}.type`,
      name: typeName,
      valid: types.keys(),
    });
  }
  if (target === source) {
    context.diagnostics.report('relationship_to_self', `"${source}" has a relationship to itself`, {
      at: node.get('target'),
      path: `${path}.target`,
      expected: 'another node template',
    });
  } else if (target !== undefined && !templates.has(target)) {
    context.diagnostics.report('unknown_relationship_target', `there is no node template "${target}"`, {
      at: node.get('target'),
      path: `${path}.target`,
      name: target,
      valid: templates.keys(),
    });
  }
  if (target === undefined) return null;
  const check: ValueCheck = {
    context,
    dataTypes: scope.dataTypes,
    owner: `relationship "${type.name}" of "${source}"`,
    path: `${path}.properties`,
    allowMissing: false,
    isPartial: type.isPartial,
  };
  const given = node.get('properties');
  const merged = fill(
    check,
    given?.kind === 'map' ? given : mapNode([], node),
    type.properties,
    undefined,
    check.path,
  );
  if (type.name === ON_LIFECYCLE_OPERATION) checkLifecycleOperation(scope, merged, node, target, path);
  const sources = side(scope, type, node, 'source', path);
  const targets = side(scope, type, node, 'target', path);
  const properties: JsonObject = {};
  for (const entry of merged.entries) properties[entry.name] = jsonOf(entry.value);
  return {
    plan: {
      type: type.name,
      target_id: target,
      properties,
      source_interfaces: sources.merged.json,
      target_interfaces: targets.merged.json,
      type_hierarchy: type.hierarchy as string[],
      source_operations: sources.resolved.json,
      target_operations: targets.resolved.json,
    },
    isContained: isContainment(type),
    sourceUses: sources.resolved.uses,
    targetUses: targets.resolved.uses,
  };
}

function side(
  scope: RelationshipScope,
  type: RelationshipType,
  node: MapNode,
  which: 'source' | 'target',
  path: string,
): PlainInterfaces {
  const { context, mappings } = scope;
  const own = node.get(`${which}_interfaces`);
  const kind = 'unresolved_relationship_operation';
  let result: PlainInterfaces;
  if (isNull(own)) {
    const key = which === 'source' ? 'plainSource' : 'plainTarget';
    result = type[key] ??= plainInterfaces(context, mappings, type[which], kind);
  } else {
    const merged = mergeInterfaces(context, type[which], own, `${path}.${which}_interfaces`);
    result = { merged, resolved: resolveOperations(mappings, merged, kind) };
  }
  reportOperations(context, result, `${path}.${which}_interfaces`, node);
  return result;
}

/** Reports the faults in the operations of one element. */
export function reportOperations(
  context: ElementContext,
  { merged, resolved }: PlainInterfaces,
  path: string,
  at: Node,
): void {
  for (const { interface: name, operation, inputs, node } of merged.missing) {
    context.diagnostics.report(
      'missing_operation_input',
      inputs.length === 1
        ? `Input "${inputs[0]}" of ${name}.${operation} is missing a value`
        : `Inputs ${inputs.map((i) => `"${i}"`).join(', ')} of ${name}.${operation} are missing a value`,
      {
        at: node.source === at.source ? node : at,
        path: `${path}.${name}.${operation}`,
        expected: inputs.map((i) => `inputs.${i}`).join(', '),
      },
    );
  }
  for (const { kind, message, interface: name, operation, at: node } of resolved.failures) {
    context.diagnostics.report(kind, message, {
      at: node,
      path: `${path}.${name}.${operation}`,
      expected: 'PLUGIN.FUNCTION or the path of a script',
    });
  }
}

function checkLifecycleOperation(
  scope: RelationshipScope,
  properties: MapNode,
  node: MapNode,
  target: string,
  path: string,
): void {
  const operation = textOf(properties.get('operation'));
  if (operation === undefined) {
    scope.context.diagnostics.report(
      'lifecycle_operation_missing',
      `the relationship needs the property "operation"`,
      { at: node, path: `${path}.properties.operation`, expected: 'the name of a lifecycle operation' },
    );
    return;
  }
  const interfaces = childOf(scope.templates.get(target), 'interfaces');
  const lifecycle = childOf(interfaces, LIFECYCLE);
  if (lifecycle?.kind === 'map' && lifecycle.has(operation)) return;
  scope.context.diagnostics.report(
    'lifecycle_operation_undeclared',
    `"${target}" does not declare the lifecycle operation "${operation}" itself`,
    {
      at: properties.get('operation'),
      path: `${path}.properties.operation`,
      value: operation as Json,
      expected: `interfaces.${LIFECYCLE}.${operation} in ${target}`,
    },
  );
}
