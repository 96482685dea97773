import { isJsonObject, type Json } from '@baton/kernel';
import type { DiagnosticKind } from '../diagnostics/kinds';
import { type FunctionCall, type FunctionName, isFunction } from './registry';

/** What is wrong with the arguments of a call. */
export interface ArgumentFault {
  kind: DiagnosticKind;
  message: string;
  expected: string;
}

type Check = (args: Json) => ArgumentFault | null;

const valueError = (message: string, expected: string): ArgumentFault => ({
  kind: 'function_argument',
  message,
  expected,
});
const formError = (message: string, expected: string): ArgumentFault => ({
  kind: 'function_form',
  message,
  expected,
});

/** Items of a path: texts, whole numbers and functions. */
function isStep(item: Json): boolean {
  return typeof item === 'string' || (typeof item === 'number' && Number.isInteger(item)) || isFunction(item);
}

function steps(name: string, least: number, expected: string): Check {
  return (args) => {
    if (!Array.isArray(args) || args.length < least)
      return valueError(`${name} takes a list of ${least} items or more`, expected);
    return args.every(isStep)
      ? null
      : valueError(`the items of ${name} are strings, integers or functions`, expected);
  };
}

function strings(name: string, least: number, most: number, expected: string): Check {
  return (args) => {
    if (!Array.isArray(args) || args.length < least || args.length > most)
      return formError(
        `${name} takes a list of ${least === most ? least : `${least} or ${most}`} items`,
        expected,
      );
    const isFit = args.every(
      (a, i) =>
        isFunction(a) || (i === most - 1 && most > least ? typeof a === 'number' : typeof a === 'string'),
    );
    return isFit ? null : formError(`the items of ${name} are not of the right type`, expected);
  };
}

function oneString(name: string): Check {
  return (args) =>
    typeof args === 'string' || (isJsonObject(args) && Object.keys(args).length === 1)
      ? null
      : formError(`${name} takes a string`, 'a string or a function');
}

const SYS: Record<string, string[]> = { tenant: ['name'], deployment: ['id', 'name', 'blueprint', 'owner'] };

function checkSys(args: Json): ArgumentFault | null {
  const expected = '[tenant, name] or [deployment, id | name | blueprint | owner]';
  if (!Array.isArray(args) || args.length < 2)
    return valueError('get_sys takes a list of an entity and a property', expected);
  const [entity, property] = args;
  if (isFunction(entity) || isFunction(property)) return null;
  if (typeof entity !== 'string' || !Object.hasOwn(SYS, entity))
    return {
      kind: 'unknown_sys_entity',
      message: `get_sys does not know the entity ${JSON.stringify(entity)}`,
      expected,
    };
  if (typeof property !== 'string' || !SYS[entity]!.includes(property))
    return {
      kind: 'unknown_sys_property',
      message: `get_sys does not know the property ${JSON.stringify(property)} of ${entity}`,
      expected,
    };
  return null;
}

function checkGetInput(args: Json): ArgumentFault | null {
  const expected = 'the name of an input, or [NAME, KEY, ...]';
  if (typeof args === 'string' || isFunction(args)) return null;
  if (!Array.isArray(args) || args.length === 0)
    return valueError('get_input takes a name or a list', expected);
  const [first] = args;
  const isFit = (typeof first === 'string' || isFunction(first)) && args.every(isStep);
  return isFit ? null : valueError('the items of get_input are strings, integers or functions', expected);
}

function checkSecret(args: Json): ArgumentFault | null {
  const expected = 'the name of a secret, or [NAME, KEY, ...]';
  if (typeof args === 'string' || isFunction(args)) return null;
  if (!Array.isArray(args) || args.length < 2)
    return formError('get_secret takes a name, or a list of two items or more', expected);
  return args.every(isStep)
    ? null
    : formError('the items of get_secret are strings, integers or functions', expected);
}

function checkEnvironment(args: Json): ArgumentFault | null {
  const expected = 'the name of a capability, or [NAME, KEY, ...]';
  if (typeof args === 'string') return null;
  if (!Array.isArray(args) || args.length < 2)
    return formError('get_environment_capability takes a name, or a list of two items or more', expected);
  return args.every(isStep)
    ? null
    : valueError('the items of get_environment_capability are strings, integers or functions', expected);
}

function checkGroupCapability(args: Json): ArgumentFault | null {
  const expected = '[GROUP, CAPABILITY or list of them, KEY, ...]';
  if (!Array.isArray(args) || args.length < 2)
    return valueError('get_group_capability takes a list of two items or more', expected);
  const isFit = args.every(
    (a, i) =>
      isStep(a) || (i === 1 && Array.isArray(a) && a.every((c) => typeof c === 'string' || isFunction(c))),
  );
  return isFit ? null : valueError('an item of get_group_capability is not of the right type', expected);
}

function checkLabel(args: Json): ArgumentFault | null {
  const expected = 'the key of a label, or [KEY, INDEX]';
  if (typeof args === 'string' || isFunction(args)) return null;
  if (!Array.isArray(args) || args.length !== 2)
    return formError('get_label takes a key, or a list of a key and an index', expected);
  const [key, index] = args;
  const isIndex =
    isFunction(index) ||
    (typeof index === 'number' && Number.isInteger(index)) ||
    (typeof index === 'string' && /^\d{1,9}$/.test(index));
  return (typeof key === 'string' || isFunction(key)) && isIndex
    ? null
    : formError('get_label takes a key and an index', expected);
}

function checkAttributesDict(args: Json): ArgumentFault | null {
  const expected = '[NODE, ATTRIBUTE or [ATTRIBUTE, KEY, ...], ...]';
  if (!Array.isArray(args) || args.length < 2)
    return valueError('get_attributes_dict takes a list of two items or more', expected);
  const isFit = args.every(
    (a, i) => isStep(a) || (i > 0 && Array.isArray(a) && a.length > 0 && a.every(isStep)),
  );
  return isFit ? null : valueError('an item of get_attributes_dict is not of the right type', expected);
}

function checkMerge(args: Json): ArgumentFault | null {
  if (!Array.isArray(args)) return valueError('merge takes a list', 'a list of dicts');
  return args.every(isJsonObject) ? null : formError('the items of merge are dicts', 'a list of dicts');
}

/** Forms of the arguments (reference 4, first table). */
export const argumentChecks: Readonly<Record<FunctionName, Check>> = {
  get_input: checkGetInput,
  get_property: steps('get_property', 2, '[NODE, PROPERTY, KEY, ...]'),
  concat: (args) =>
    Array.isArray(args) || isFunction(args) ? null : valueError('concat takes a list', 'a list'),
  merge: checkMerge,
  string_find: strings('string_find', 2, 2, '[TEXT, PART]'),
  string_replace: strings('string_replace', 3, 4, '[TEXT, PART, REPLACEMENT, COUNT]'),
  string_split: strings('string_split', 2, 3, '[TEXT, SEPARATOR, INDEX]'),
  string_lower: oneString('string_lower'),
  string_upper: oneString('string_upper'),
  get_attribute: steps('get_attribute', 2, '[NODE, ATTRIBUTE, KEY, ...]'),
  get_attributes_list: steps('get_attributes_list', 2, '[NODE, ATTRIBUTE, KEY, ...]'),
  get_attributes_dict: checkAttributesDict,
  get_secret: checkSecret,
  get_capability: steps('get_capability', 2, '[DEPLOYMENT, CAPABILITY, KEY, ...]'),
  get_group_capability: checkGroupCapability,
  get_environment_capability: checkEnvironment,
  get_label: checkLabel,
  get_sys: checkSys,
  get_consumers: (args) =>
    args === 'ids' || args === 'names' || args === 'count'
      ? null
      : valueError('get_consumers takes ids, names or count', 'ids, names or count'),
};

export function checkArguments(call: FunctionCall): ArgumentFault | null {
  return argumentChecks[call.name](call.args);
}
