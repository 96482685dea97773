import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { Node } from '../yaml/node';

/** `hybrid` functions are evaluated when a deployment is prepared, `runtime` ones when their value is requested. */
export type FunctionStage = 'hybrid' | 'runtime';

export const functionStages = {
  get_input: 'hybrid',
  get_property: 'hybrid',
  concat: 'hybrid',
  merge: 'hybrid',
  string_find: 'hybrid',
  string_replace: 'hybrid',
  string_split: 'hybrid',
  string_lower: 'hybrid',
  string_upper: 'hybrid',
  get_attribute: 'runtime',
  get_attributes_list: 'runtime',
  get_attributes_dict: 'runtime',
  get_secret: 'runtime',
  get_capability: 'runtime',
  get_group_capability: 'runtime',
  get_environment_capability: 'runtime',
  get_label: 'runtime',
  get_sys: 'runtime',
  get_consumers: 'runtime',
} as const satisfies Record<string, FunctionStage>;

export type FunctionName = keyof typeof functionStages;

export interface FunctionCall {
  name: FunctionName;
  args: Json;
  /** Primitive type that the result must have. */
  type: Json | undefined;
}

function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(functionStages, name);
}

/**
 * Returns the call that a value represents, or null (reference 3.1, "Is a function"): a mapping with the name of a
 * function as its only key, or with `type` beside it.
 */
export function asFunction(value: Json | undefined): FunctionCall | null {
  if (!isJsonObject(value)) return null;
  let name: FunctionName | null = null;
  let type: Json | undefined;
  let keys = 0;
  for (const key in value) {
    if (++keys > 2) return null;
    if (isFunctionName(key)) {
      if (name !== null) return null;
      name = key;
    } else if (key === 'type') type = value[key];
    else return null;
  }
  return name === null ? null : { name, args: value[name]!, type };
}

export function isFunction(value: Json | undefined): value is JsonObject {
  return asFunction(value) !== null;
}

/** Whether a node, which has a place in the document, is a call. */
export function isFunctionNode(node: Node | undefined): boolean {
  if (node?.kind !== 'map' || node.entries.length === 0 || node.entries.length > 2) return false;
  let names = 0;
  for (const { name } of node.entries) {
    if (isFunctionName(name)) names++;
    else if (name !== 'type') return false;
  }
  return names === 1;
}
