import type { Json, JsonObject } from '@baton/kernel';
import { isFunctionNode } from '../functions/registry';
import { childOf, isNull, type MapNode, type Node, toJson } from '../yaml/node';
import type { ElementContext } from './element-context';

const UNBOUNDED = -1;

/** Numbers of instances of a node or scaling group (reference 2.6); each may be a function until a deployment exists. */
export type ScalingProperties = {
  min_instances: Json;
  max_instances: Json;
  default_instances: Json;
  current_instances: Json;
  planned_instances: Json;
};

const NAMES = ['default_instances', 'min_instances', 'max_instances'] as const;
const DEFAULTS = { default_instances: 1, min_instances: 0, max_instances: UNBOUNDED };

function scalingOf(count: Json): ScalingProperties {
  return {
    min_instances: 0,
    max_instances: UNBOUNDED,
    default_instances: count,
    current_instances: count,
    planned_instances: count,
  };
}

/** Reads and checks scaling properties; `node`: their mapping, if any. */
export function parseScaling(
  context: ElementContext,
  node: Node | undefined,
  path: string,
): ScalingProperties {
  const numbers: Record<(typeof NAMES)[number], Json> = { ...DEFAULTS };
  for (const name of NAMES) {
    const value = childOf(node, name);
    if (value !== undefined && !isNull(value))
      numbers[name] = parseNumber(context, name, value, `${path}.${name}`);
  }
  if (node?.kind === 'map') checkOrder(context, numbers, node, path);
  const { default_instances, min_instances, max_instances } = numbers;
  return {
    min_instances,
    max_instances,
    default_instances,
    current_instances: default_instances,
    planned_instances: default_instances,
  };
}

function parseNumber(context: ElementContext, name: (typeof NAMES)[number], value: Node, path: string): Json {
  const { diagnostics } = context;
  if (isFunctionNode(value)) return toJson(value);
  if (value.kind === 'map') {
    diagnostics.report('scalable_not_function', `"${path}" must be a number or a function`, {
      at: value,
      path,
      expected: 'an integer or a function',
    });
    return DEFAULTS[name];
  }
  const number = value.kind === 'scalar' ? value.value : null;
  if (name === 'max_instances' && value.kind === 'scalar' && value.type === 'string') {
    if (number === 'UNBOUNDED') return UNBOUNDED;
    diagnostics.report('bad_max_instances', `"${path}" must be a number or UNBOUNDED`, {
      at: value,
      path,
      expected: 'an integer or UNBOUNDED',
    });
    return UNBOUNDED;
  }
  if (typeof number === 'boolean') return Number(number);
  if (value.kind !== 'scalar' || value.type !== 'integer' || typeof number !== 'number') {
    diagnostics.report('bad_shape', `"${path}" must be an integer`, { at: value, path, expected: 'integer' });
    return DEFAULTS[name];
  }
  const isBad = name === 'max_instances' ? number < 1 && number !== UNBOUNDED : number < 0;
  if (isBad)
    diagnostics.report('bad_instances', `"${path}" is ${number}`, {
      at: value,
      path,
      expected: name === 'max_instances' ? '1 or more, or UNBOUNDED' : '0 or more',
    });
  return isBad ? DEFAULTS[name] : number;
}

function checkOrder(
  context: ElementContext,
  numbers: Record<(typeof NAMES)[number], Json>,
  node: MapNode,
  path: string,
): void {
  const { default_instances: count, min_instances: min, max_instances: max } = numbers;
  const bad = (message: string): void =>
    context.diagnostics.report('bad_instances', message, {
      at: node,
      path,
      expected: 'min_instances <= default_instances <= max_instances',
    });
  const hasMax = typeof max === 'number' && max !== UNBOUNDED;
  if (typeof count === 'number' && typeof min === 'number' && count < min)
    bad(`default_instances ${count} is below min_instances ${min}`);
  if (hasMax && typeof min === 'number' && min > max)
    bad(`min_instances ${min} is above max_instances ${max}`);
  if (hasMax && typeof count === 'number' && count > max)
    bad(`default_instances ${count} is above max_instances ${max}`);
}

/** Reads `instances` and `capabilities` of a node template as the plan's `instances` and scaling properties. */
export function parseNodeScaling(
  context: ElementContext,
  template: MapNode,
  path: string,
): { instances: JsonObject; scaling: ScalingProperties } {
  const instances = template.get('instances');
  const capabilities = template.get('capabilities');
  const deploy = childOf(instances, 'deploy');
  if (!isNull(instances) && !isNull(capabilities)) {
    context.diagnostics.report('deploy_and_capabilities', `"${path}" has both instances and capabilities`, {
      at: template.entry('instances')!.key,
      path,
      expected: 'capabilities only',
    });
  }
  if (deploy?.kind !== 'scalar' || (typeof deploy.value !== 'number' && typeof deploy.value !== 'boolean')) {
    return {
      instances: {},
      scaling: parseScaling(
        context,
        childOf(childOf(capabilities, 'scalable'), 'properties'),
        `${path}.capabilities.scalable.properties`,
      ),
    };
  }
  const count = Number(deploy.value);
  if (count < 0)
    context.diagnostics.report('negative_deploy', `"${path}.instances.deploy" is ${count}`, {
      at: deploy,
      path: `${path}.instances.deploy`,
      expected: '0 or more',
    });
  return { instances: { deploy: deploy.value }, scaling: scalingOf(count) };
}
