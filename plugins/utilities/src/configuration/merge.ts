import { FatalError } from '@baton/plugin-sdk';
import { type Dict, isDict, isSame, type Json } from '../json';

/** Parameters as a dictionary, or as JSON. @throws FatalError for everything else */
export function parametersOf(given: unknown): Dict {
  if (isDict(given)) return given;
  if (given === undefined || given === null || given === '') return {};
  if (typeof given === 'string') {
    const read = fromJson(given);
    if (isDict(read)) return read;
  }
  throw new FatalError('parameters: expected a dictionary, or a text of JSON with one');
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FatalError('parameters: the text is no JSON', { cause });
  }
}

/** Deepest nesting of dictionaries that are merged. */
const MAX_DEPTH = 100;

/** Merges dictionaries at any depth; other values of the second one replace those of the first. */
export function mergeDeep(first: Dict, second: Dict, depth = 0): Dict {
  if (depth > MAX_DEPTH) throw new FatalError(`parameters are nested deeper than ${MAX_DEPTH}`);
  const merged = new Map(Object.entries(first));
  for (const [key, value] of Object.entries(second)) {
    const present = merged.get(key);
    merged.set(key, isDict(present) && isDict(value) ? mergeDeep(present, value, depth + 1) : value);
  }
  return Object.fromEntries(merged);
}

/** The part of a configuration that a node gets: the parameters of its list, and its own before them. */
export function paramsForNode(config: Dict, properties: Readonly<Dict>, present: Dict): Dict {
  const { params_list: list, params: own } = properties;
  if (!Array.isArray(list) || !isDict(own))
    throw new FatalError('the node needs the properties params_list (a list) and params (a dictionary)');
  const chosen = Object.entries(config).filter(([name]) => list.includes(name));
  const params: Dict = { ...Object.fromEntries(chosen), ...own };
  const { old_params: _, ...old } = present;
  const changed = Object.keys(params).filter((name) => !isSame(params[name], old[name]));
  return { ...params, old_params: { ...old, old_params: {} }, diff_params: changed as Json };
}
