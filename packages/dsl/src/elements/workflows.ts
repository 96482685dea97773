import type { Json, JsonObject } from '@baton/kernel';
import { checkConstraints } from '../constraints/declared';
import {
  childOf,
  type Entry,
  entriesOf,
  isString,
  itemsOf,
  type Node,
  setOwn,
  textOf,
  toJson,
} from '../yaml/node';
import type { DataTypes } from './data-types';
import type { ElementContext } from './element-context';
import { checkItemType } from './inputs';
import type { Mappings } from './operations';
import type { PlanPlugin } from './plugins';
import { parsePropertySchema, schemaJson } from './properties';

export type PlanWorkflow = {
  plugin: string;
  operation: string;
  parameters: JsonObject;
  is_cascading: boolean;
  availability_rules: JsonObject | null;
};

const ACTIVE = ['all', 'partial', 'none'];

/** Parses the workflows (reference 2.9), and returns their plugins in order of first use. */
export function parseWorkflows(
  context: ElementContext,
  dataTypes: DataTypes,
  mappings: Mappings,
): { workflows: Record<string, PlanWorkflow>; plugins: PlanPlugin[] } {
  const workflows: Record<string, PlanWorkflow> = {};
  const plugins = new Map<string, PlanPlugin>();
  for (const entry of entriesOf(context.root.get('workflows'))) {
    const parsed = parseWorkflow(context, dataTypes, mappings, entry);
    if (!parsed) continue;
    setOwn(workflows, entry.name, parsed.workflow);
    if (!plugins.has(parsed.plugin.name)) plugins.set(parsed.plugin.name, parsed.plugin);
  }
  return { workflows, plugins: [...plugins.values()] };
}

function parseWorkflow(
  context: ElementContext,
  dataTypes: DataTypes,
  mappings: Mappings,
  { name, value }: Entry,
): { workflow: PlanWorkflow; plugin: PlanPlugin } | null {
  const path = `workflows.${name}`;
  const mappingNode = isString(value) ? value : childOf(value, 'mapping');
  const text = textOf(mappingNode);
  const parameters = parseParameters(
    context,
    dataTypes,
    childOf(value, 'parameters'),
    name,
    `${path}.parameters`,
  );
  const rules = childOf(value, 'availability_rules');
  checkRules(context, rules, `${path}.availability_rules`);
  if (text === undefined) return null;
  const mapping = mappings.resolve(text, (key) => Object.hasOwn(parameters, key), 'unresolved_workflow');
  if ('kind' in mapping) {
    context.diagnostics.report(mapping.kind, `workflow "${name}": ${mapping.message}`, {
      at: mappingNode,
      path,
      expected: 'PLUGIN.FUNCTION or the path of a script',
    });
    return null;
  }
  const { script, plugin } = mapping;
  if (script)
    parameters[script.key] = {
      default: script.text,
      description: 'Workflow script executed by the script plugin',
    };
  const cascading = childOf(value, 'is_cascading');
  return {
    plugin,
    workflow: {
      plugin: plugin.name,
      operation: script ? 'script_runner.tasks.execute_workflow' : mapping.operation,
      parameters,
      is_cascading: cascading?.kind === 'scalar' && cascading.value === true,
      availability_rules: rules?.kind === 'map' ? (toJson(rules) as JsonObject) : null,
    },
  };
}

function parseParameters(
  context: ElementContext,
  dataTypes: DataTypes,
  node: Node | undefined,
  workflow: string,
  path: string,
): JsonObject {
  const result: JsonObject = {};
  for (const entry of entriesOf(node)) {
    const at = `${path}.${entry.name}`;
    const owner = `parameter "${entry.name}" of workflow "${workflow}"`;
    const schema = parsePropertySchema(context, dataTypes, entry.value, owner, at, 'inputs');
    if (!schema) {
      setOwn(result, entry.name, {});
      continue;
    }
    checkItemType(context, schema, owner, at);
    checkConstraints(context, childOf(entry.value, 'constraints'), `${at}.constraints`, false);
    setOwn(result, entry.name, schemaJson(schema) as Json);
  }
  return result;
}

function checkRules(context: ElementContext, rules: Node | undefined, path: string): void {
  const active = childOf(rules, 'node_instances_active');
  itemsOf(active).forEach((item, i) => {
    const value = textOf(item) ?? JSON.stringify(toJson(item));
    if (isString(item) && ACTIVE.includes(value)) return;
    context.diagnostics.report('bad_availability', `"${value}" is not a value of node_instances_active`, {
      at: item,
      path: `${path}.node_instances_active[${i}]`,
      name: value,
      valid: ACTIVE,
    });
  });
}
