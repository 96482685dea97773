import type { Json, JsonObject } from '@baton/kernel';
import { DataTypes } from '../elements/data-types';
import { parseDeploymentSettings, type ScheduleClock } from '../elements/deployment-settings';
import type { ElementContext } from '../elements/element-context';
import { parseGroups, parsePolicies, parseSchemaTypes, schemaTypesJson } from '../elements/groups';
import { parseInputs } from '../elements/inputs';
import { parseFreeSection, parseLabels } from '../elements/labels';
import { checkNodeCycles, linkHosts, linkPlugins } from '../elements/node-links';
import { parseNodeTemplates } from '../elements/node-templates';
import { Mappings } from '../elements/operations';
import { parsePlugins } from '../elements/plugins';
import { checkScalingGroups } from '../elements/scaling-groups';
import {
  checkRelationshipOperations,
  parseNodeTypes,
  parseRelationshipTypes,
  relationshipTypesJson,
} from '../elements/types';
import type { PlanVersion } from '../elements/version';
import { parseWorkflows } from '../elements/workflows';
import { entriesOf, itemsOf, setOwn, textOf, toJson } from '../yaml/node';
import type { ParsedPlan } from './plan';

/** Converts the merged document to a plan. All faults are reported; the plan is usable only when there was none. */
export function buildPlan(context: ElementContext, version: PlanVersion, clock: ScheduleClock): ParsedPlan {
  const { root } = context;
  const dataTypes = new DataTypes(context);
  dataTypes.resolveAll();
  const namespacesMapping: Record<string, string> = {};
  for (const { name, value } of entriesOf(root.get('namespaces_mapping')))
    setOwn(namespacesMapping, name, textOf(value) ?? '');
  const inputs = parseInputs(context, dataTypes);
  const mappings = new Mappings(context, parsePlugins(context), new Set(Object.keys(namespacesMapping)));
  const nodeTypes = parseNodeTypes(context, dataTypes);
  const types = parseRelationshipTypes(context, dataTypes);
  checkRelationshipOperations(context, mappings, types);
  const templates = new Map(entriesOf(root.get('node_templates')).map((e) => [e.name, e.value]));
  const nodes = parseNodeTemplates({ context, dataTypes, mappings, types, templates, nodeTypes });
  checkNodeCycles(context, nodes);
  linkHosts(nodes);
  const toInstall = linkPlugins(context, nodes);
  const { workflows, plugins } = parseWorkflows(context, dataTypes, mappings);
  const policyTypes = parseSchemaTypes(context, dataTypes, 'policy_types', 'properties');
  const triggers = parseSchemaTypes(context, dataTypes, 'policy_triggers', 'parameters');
  const groups = parseGroups({ context, dataTypes, policyTypes, triggers });
  const { policies, scalingGroups } = parsePolicies(context, groups);
  const metadata = root.get('metadata');
  return {
    inputs,
    outputs: parseFreeSection(context, 'outputs'),
    nodes: [...nodes.values()].map((n) => n.plan),
    scaling_groups: checkScalingGroups(context, scalingGroups, nodes),
    workflows,
    policy_types: schemaTypesJson(policyTypes, 'properties'),
    policy_triggers: schemaTypesJson(triggers, 'parameters'),
    description: textOf(root.get('description')) ?? null,
    groups,
    capabilities: parseFreeSection(context, 'capabilities'),
    resource_tags: parseFreeSection(context, 'resource_tags'),
    labels: parseLabels(context, 'labels'),
    requirements: { parent_capabilities: [], secrets: [] },
    metadata: metadata?.kind === 'map' ? (toJson(metadata) as JsonObject) : null,
    relationships: relationshipTypesJson(context, types),
    policies,
    deployment_plugins_to_install: toInstall.deployment,
    workflow_plugins_to_install: plugins,
    host_agent_plugins_to_install: toInstall.hostAgent,
    version,
    imported_blueprints: itemsOf(root.get('imported_blueprints')).map((n) => textOf(n) ?? ''),
    namespaces_mapping: namespacesMapping,
    data_types: dataTypes.toPlan(),
    blueprint_labels: parseLabels(context, 'blueprint_labels'),
    deployment_settings: parseDeploymentSettings(context, clock),
  };
}

/** Returns every text that may name a script: implementations and mappings. */
export function implementationTexts(context: { root: ElementContext['root'] }): Set<string> {
  const texts = new Set<string>();
  const add = (value: Json): void => {
    if (typeof value === 'string' && value !== '' && !value.trim().includes('\n')) texts.add(value);
  };
  const fromInterfaces = (node: ReturnType<typeof context.root.get>): void => {
    for (const { value: operations } of entriesOf(node)) {
      for (const { value } of entriesOf(operations)) {
        if (value.kind === 'scalar') add(value.value);
        else if (value.kind === 'map') add(textOf(value.get('implementation')) ?? null);
      }
    }
  };
  for (const section of ['node_types', 'node_templates'] as const) {
    for (const { value } of entriesOf(context.root.get(section))) {
      if (value.kind !== 'map') continue;
      fromInterfaces(value.get('interfaces'));
      for (const relationship of itemsOf(value.get('relationships'))) {
        if (relationship.kind !== 'map') continue;
        fromInterfaces(relationship.get('source_interfaces'));
        fromInterfaces(relationship.get('target_interfaces'));
      }
    }
  }
  for (const { value } of entriesOf(context.root.get('relationships'))) {
    if (value.kind !== 'map') continue;
    fromInterfaces(value.get('source_interfaces'));
    fromInterfaces(value.get('target_interfaces'));
  }
  for (const { value } of entriesOf(context.root.get('workflows'))) {
    if (value.kind === 'scalar') add(value.value);
    else if (value.kind === 'map') add(textOf(value.get('mapping')) ?? null);
  }
  return texts;
}
