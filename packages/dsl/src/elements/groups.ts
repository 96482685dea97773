import type { Json, JsonObject } from '@baton/kernel';
import {
  childOf,
  entriesOf,
  isNull,
  itemsOf,
  type MapNode,
  mapNode,
  type Node,
  setOwn,
  textOf,
} from '../yaml/node';
import type { DataTypes } from './data-types';
import type { ElementContext } from './element-context';
import { jsonOf, parsePropertySchemas, schemasJson } from './properties';
import type { PropertySchemas } from './property-schema';
import { parseScaling, type ScalingProperties } from './scalable';
import { fill } from './typed-value';

const SCALING = 'cloudify.policies.scaling';

interface SchemaType {
  source: string | null;
  schemas: PropertySchemas;
}

/** Parses `policy_types` or `policy_triggers`; `key` names the field with their schema. */
export function parseSchemaTypes(
  context: ElementContext,
  dataTypes: DataTypes,
  section: 'policy_types' | 'policy_triggers',
  key: 'properties' | 'parameters',
): Map<string, SchemaType> {
  const types = new Map<string, SchemaType>();
  for (const { name, value } of entriesOf(context.root.get(section))) {
    const schemas = parsePropertySchemas(
      context,
      dataTypes,
      childOf(value, key),
      `${section}.${name}`,
      `${section}.${name}.${key}`,
    );
    types.set(name, { source: textOf(childOf(value, 'source')) ?? null, schemas });
  }
  return types;
}

export function schemaTypesJson(
  types: ReadonlyMap<string, SchemaType>,
  key: 'properties' | 'parameters',
): JsonObject {
  const result: JsonObject = {};
  for (const [name, { source, schemas }] of types)
    setOwn(result, name, { [key]: schemasJson(schemas), source } as Json);
  return result;
}

export type PlanGroup = { members: string[]; policies: JsonObject };

interface GroupScope {
  context: ElementContext;
  dataTypes: DataTypes;
  policyTypes: ReadonlyMap<string, SchemaType>;
  triggers: ReadonlyMap<string, SchemaType>;
}

/** Parses the groups with their policies (reference 2.10). */
export function parseGroups(scope: GroupScope): Record<string, PlanGroup> {
  const { context } = scope;
  const groups: Record<string, PlanGroup> = {};
  const section = context.root.get('groups');
  const templates = context.root.get('node_templates');
  const isKnown = (name: string): boolean =>
    (section?.kind === 'map' && section.has(name)) || (templates?.kind === 'map' && templates.has(name));
  for (const { name, key, value } of entriesOf(section)) {
    const path = `groups.${name}`;
    if (templates?.kind === 'map' && templates.has(name)) {
      context.diagnostics.report(
        'group_named_like_node',
        `the group "${name}" has the name of a node template`,
        { at: key, path, value: name, expected: 'another name' },
      );
    }
    const memberNode = childOf(value, 'members');
    if (memberNode?.kind === 'seq' && memberNode.items.length === 0) {
      context.diagnostics.report('empty_group', `the group "${name}" has no members`, {
        at: memberNode,
        path: `${path}.members`,
        expected: 'one member or more',
      });
    }
    const members = new Set<string>();
    itemsOf(memberNode).forEach((item, i) => {
      const member = isNull(item) ? 'null' : textOf(item);
      if (member === undefined) return;
      members.add(member);
      if (!isNull(item) && isKnown(member)) return;
      context.diagnostics.report(
        'unknown_group_member',
        `"${member}" is neither a node template nor a group`,
        {
          at: item,
          path: `${path}.members[${i}]`,
          name: member,
          valid: [...entriesOf(templates), ...entriesOf(section)].map((e) => e.name),
        },
      );
    });
    setOwn(groups, name, {
      members: [...members],
      policies: groupPolicies(scope, childOf(value, 'policies'), `${path}.policies`),
    });
  }
  return groups;
}

function groupPolicies(scope: GroupScope, node: Node | undefined, path: string): JsonObject {
  const result: JsonObject = {};
  for (const { name, value } of entriesOf(node)) {
    const at = `${path}.${name}`;
    const triggers: JsonObject = {};
    for (const trigger of entriesOf(childOf(value, 'triggers'))) {
      const where = `${at}.triggers.${trigger.name}`;
      const parameters = typedProperties(
        scope,
        trigger.value,
        scope.triggers,
        'parameters',
        'unknown_trigger_type',
        where,
      );
      setOwn(triggers, trigger.name, {
        type: textOf(childOf(trigger.value, 'type')) ?? null,
        parameters,
      } as Json);
    }
    const properties = typedProperties(
      scope,
      value,
      scope.policyTypes,
      'properties',
      'unknown_policy_type',
      at,
    );
    setOwn(result, name, { type: textOf(childOf(value, 'type')) ?? null, properties, triggers } as Json);
  }
  return result;
}

function typedProperties(
  scope: GroupScope,
  node: Node,
  types: ReadonlyMap<string, SchemaType>,
  key: 'properties' | 'parameters',
  unknown: 'unknown_policy_type' | 'unknown_trigger_type',
  path: string,
): JsonObject {
  const { context, dataTypes } = scope;
  const typeName = textOf(childOf(node, 'type'));
  if (typeName === undefined) return {};
  const type = types.get(typeName);
  if (!type) {
    context.diagnostics.report(unknown, `there is no type "${typeName}"`, {
      at: childOf(node, 'type'),
      path: `${path}.type`,
      name: typeName,
      valid: types.keys(),
    });
    return {};
  }
  const given = childOf(node, key);
  const values: MapNode = given?.kind === 'map' ? given : mapNode([], node);
  const result: JsonObject = {};
  const check = { context, dataTypes, owner: `"${path}"`, path: `${path}.${key}`, allowMissing: false };
  for (const entry of fill(check, values, type.schemas, undefined, check.path).entries)
    setOwn(result, entry.name, jsonOf(entry.value));
  return result;
}

export type PlanPolicy = { type: string; properties: ScalingProperties; targets: string[] };
export type PlanScalingGroup = { members: string[]; properties: ScalingProperties };

/** Parses the policies, and the groups that they scale. */
export function parsePolicies(
  context: ElementContext,
  groups: Readonly<Record<string, PlanGroup>>,
): { policies: Record<string, PlanPolicy>; scalingGroups: Record<string, PlanScalingGroup> } {
  const policies: Record<string, PlanPolicy> = {};
  const scalingGroups: Record<string, PlanScalingGroup> = {};
  for (const { name, value } of entriesOf(context.root.get('policies'))) {
    const path = `policies.${name}`;
    const type = textOf(childOf(value, 'type'));
    if (type !== undefined && type !== SCALING) {
      context.diagnostics.report('unsupported_policy', `the policy type "${type}" is not supported`, {
        at: childOf(value, 'type'),
        path: `${path}.type`,
        name: type,
        valid: [SCALING],
      });
    }
    const properties = parseScaling(context, childOf(value, 'properties'), `${path}.properties`);
    const targetNode = childOf(value, 'targets');
    if (targetNode?.kind === 'seq' && targetNode.items.length === 0) {
      context.diagnostics.report('empty_policy_targets', `the policy "${name}" has no targets`, {
        at: targetNode,
        path: `${path}.targets`,
        expected: 'one group or more',
      });
    }
    const targets: string[] = [];
    itemsOf(targetNode).forEach((item, i) => {
      const target = isNull(item) ? 'null' : textOf(item);
      if (target === undefined) return;
      targets.push(target);
      if (isNull(item) || !Object.hasOwn(groups, target)) {
        context.diagnostics.report('policy_target_not_group', `"${target}" is not a group`, {
          at: item,
          path: `${path}.targets[${i}]`,
          name: target,
          valid: Object.keys(groups),
        });
      } else if (type === SCALING)
        setOwn(scalingGroups, target, { members: groups[target]!.members, properties });
    });
    setOwn(policies, name, { type: type ?? '', properties, targets });
  }
  return { policies, scalingGroups };
}
