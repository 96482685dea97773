import type { JsonObject } from '@baton/kernel';
import { type Entry, entriesOf, isNull, type MapNode, mapNode, setOwn, textOf } from '../yaml/node';
import { mergeInterfaces } from './interfaces';
import { resolveOperations } from './operations';
import type { PlanPlugin } from './plugins';
import { jsonOf } from './properties';
import {
  type ParsedRelationship,
  type PlanRelationship,
  parseRelationships,
  type RelationshipScope,
  reportOperations,
} from './relationships';
import { parseNodeScaling, type ScalingProperties } from './scalable';
import { fill, type ValueCheck } from './typed-value';
import { type NodeType, type PlainInterfaces, plainInterfaces, unknownNodeType } from './types';

/** A node in the form of the plan (reference 6). Nodes share parts: plans are never changed in place. */
export type PlanNode = {
  type: string;
  instances: JsonObject;
  capabilities: { scalable: { properties: ScalingProperties } };
  interfaces: JsonObject;
  relationships: PlanRelationship[];
  properties: JsonObject;
  name: string;
  id: string;
  type_hierarchy: string[];
  operations: JsonObject;
  host_id?: string;
  plugins: PlanPlugin[];
  plugins_to_install?: PlanPlugin[];
  deployment_plugins_to_install: PlanPlugin[];
};

export interface ParsedNode {
  entry: Entry;
  plan: PlanNode;
  isHost: boolean;
  relationships: ParsedRelationship[];
  uses: PlainInterfaces['resolved']['uses'];
}

export interface TemplateScope extends RelationshipScope {
  nodeTypes: ReadonlyMap<string, NodeType>;
}

/** Parses the node templates (reference 2.6), without the parts that depend on other nodes. */
export function parseNodeTemplates(scope: TemplateScope): Map<string, ParsedNode> {
  const nodes = new Map<string, ParsedNode>();
  for (const entry of entriesOf(scope.context.root.get('node_templates'))) {
    if (entry.value.kind === 'map') nodes.set(entry.name, parseTemplate(scope, entry, entry.value));
  }
  return nodes;
}

function parseTemplate(scope: TemplateScope, entry: Entry, template: MapNode): ParsedNode {
  const { context, nodeTypes } = scope;
  const { name } = entry;
  const path = `node_templates.${name}`;
  const typeName = textOf(template.get('type'));
  const known = typeName === undefined ? undefined : nodeTypes.get(typeName);
  const type = known ?? unknownNodeType(typeName ?? '');
  if (typeName !== undefined && !known) {
    context.diagnostics.report('unknown_node_type', `there is no node type "${typeName}"`, {
      at: template.get('type'),
      path: `${path}.type`,
      name: typeName,
      valid: nodeTypes.keys(),
    });
  }
  if (type.isPartial) context.partialNodes.add(name);
  const relationships = parseRelationships(scope, name, template, path);
  const { instances, scaling } = parseNodeScaling(context, template, path);
  const operations = templateInterfaces(scope, type, template, path);
  return {
    entry,
    isHost: type.isHost || context.partialNodes.has(name),
    relationships,
    uses: operations.resolved.uses,
    plan: {
      type: type.name,
      instances,
      capabilities: { scalable: { properties: scaling } },
      interfaces: operations.merged.json,
      relationships: relationships.map((r) => r.plan),
      properties: templateProperties(scope, type, template, path),
      name,
      id: name,
      type_hierarchy: type.hierarchy as string[],
      operations: operations.resolved.json,
      plugins: [],
      deployment_plugins_to_install: [],
    },
  };
}

function templateInterfaces(
  scope: TemplateScope,
  type: NodeType,
  template: MapNode,
  path: string,
): PlainInterfaces {
  const { context, mappings } = scope;
  const own = template.get('interfaces');
  let result: PlainInterfaces;
  if (isNull(own))
    result = type.plain ??= plainInterfaces(context, mappings, type.interfaces, 'unresolved_node_operation');
  else {
    const merged = mergeInterfaces(context, type.interfaces, own, `${path}.interfaces`);
    result = { merged, resolved: resolveOperations(mappings, merged, 'unresolved_node_operation') };
  }
  reportOperations(context, result, `${path}.interfaces`, template);
  return result;
}

function templateProperties(
  scope: TemplateScope,
  type: NodeType,
  template: MapNode,
  path: string,
): JsonObject {
  const { context } = scope;
  const given = template.get('properties');
  const values = given?.kind === 'map' ? given : mapNode([], template);
  const check: ValueCheck = {
    context,
    dataTypes: scope.dataTypes,
    owner: `node template "${path.slice('node_templates.'.length)}"`,
    path: `${path}.properties`,
    allowMissing: false,
    isPartial: type.isPartial,
  };
  const result: JsonObject = {};
  for (const entry of fill(check, values, type.properties, undefined, check.path).entries)
    setOwn(result, entry.name, jsonOf(entry.value));
  return result;
}

/** Returns the name of the node template that contains a node, if any. */
export function containerOf(node: ParsedNode): string | undefined {
  return node.relationships.find((r) => r.isContained)?.plan.target_id;
}
