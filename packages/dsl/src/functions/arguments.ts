import { isJsonObject, type Json } from '@baton/kernel';
import type { DiagnosticKind } from '../diagnostics/kinds';
import { pathText } from './path-walk';
import { type FunctionCall, type FunctionName, isFunction } from './registry';

/** The fault of a call's arguments. */
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

/** Whether an item may be part of a path: texts, whole numbers (true and false count as 1 and 0) and functions. */
function isStep(item: Json): boolean {
  return typeof item === 'string' || typeof item === 'boolean' || Number.isInteger(item) || isFunction(item);
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

function count(name: string, least: number, most: number, expected: string): Check {
  const many = least === most ? least : `${least} or ${most}`;
  return (args) =>
    Array.isArray(args) && args.length >= least && args.length <= most
      ? null
      : formError(`${name} takes a list of ${many} items`, expected);
}

/** Checks for strings, and functions that may return them; after the first `texts` items for whole numbers or null. */
function strings(name: string, texts: number, expected: string): Check {
  const isFit = (item: Json, i: number): boolean =>
    isFunction(item) ||
    (i < texts
      ? typeof item === 'string'
      : item === null || typeof item === 'boolean' || Number.isInteger(item));
  return (args) =>
    (args as Json[]).every(isFit)
      ? null
      : formError(`the items of ${name} are not of the right type`, expected);
}

function oneArgument(name: string): Check {
  return (args) =>
    typeof args === 'string' || (isJsonObject(args) && Object.keys(args).length === 1)
      ? null
      : formError(`${name} takes a string`, 'a string or a function');
}

function oneString(name: string): Check {
  return (args) =>
    typeof args === 'string' || isFunction(args)
      ? null
      : formError(`${name} takes a string`, 'a string or a function');
}

const SYS: Record<string, string[]> = { tenant: ['name'], deployment: ['id', 'name', 'blueprint', 'owner'] };
const SYS_EXPECTED = '[tenant, name] or [deployment, id | name | blueprint | owner]';

/** Checks that get_sys knows the requested entity and property. */
export function checkSysNames(args: Json): ArgumentFault | null {
  const [entity, property] = args as Json[];
  if (isFunction(entity)) return null;
  if (typeof entity !== 'string' || !Object.hasOwn(SYS, entity))
    return {
      kind: 'unknown_sys_entity',
      message: `get_sys does not know the entity ${JSON.stringify(entity)}`,
      expected: SYS_EXPECTED,
    };
  if (isFunction(property) || (typeof property === 'string' && SYS[entity]!.includes(property))) return null;
  return {
    kind: 'unknown_sys_property',
    message: `get_sys does not know the property ${JSON.stringify(property)} of ${entity}`,
    expected: SYS_EXPECTED,
  };
}

function checkGetInput(args: Json): ArgumentFault | null {
  const expected = 'the name of an input, or [NAME, KEY, ...]';
  if (typeof args === 'string' || isFunction(args)) return null;
  if (!Array.isArray(args) || args.length === 0)
    return valueError('get_input takes a name or a list', expected);
  return args.every(isStep)
    ? null
    : valueError('the items of get_input are strings, integers or functions', expected);
}

function checkSecret(args: Json): ArgumentFault | null {
  const expected = 'the name of a secret, or [NAME, KEY, ...]';
  if (typeof args === 'string' || isFunction(args)) return null;
  if (!Array.isArray(args) || args.length < 2)
    return formError('get_secret takes a name, or a list of two items or more', expected);
  return null;
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
  const isFit = args.every((a, i) => isStep(a) || (i === 1 && Array.isArray(a)));
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
    typeof index === 'boolean' ||
    Number.isInteger(index) ||
    (typeof index === 'string' && /^\d{1,9}$/.test(index));
  return (typeof key === 'string' || isFunction(key)) && isIndex
    ? null
    : formError('get_label takes a key and an index', expected);
}

function checkAttributesDict(args: Json): ArgumentFault | null {
  const expected = '[NODE, ATTRIBUTE or [ATTRIBUTE, KEY, ...], ...]';
  if (!Array.isArray(args) || args.length === 0)
    return valueError('get_attributes_dict takes a list', expected);
  const isFit = args.every(
    (a, i) => isStep(a) || (i > 0 && Array.isArray(a) && a.length > 0 && a.every(isStep)),
  );
  if (!isFit) return valueError('an item of get_attributes_dict is not of the right type', expected);
  const names = args.slice(1).map((a) => pathText(Array.isArray(a) ? a : [a]));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return null;
  return {
    kind: 'function_failed',
    message: `get_attributes_dict asks for the attribute "${twice}" twice`,
    expected: 'every attribute once',
  };
}

const REPLACE = '[TEXT, PART, REPLACEMENT, COUNT]';
const SPLIT = '[TEXT, SEPARATOR, INDEX]';
const FIND = '[TEXT, PART]';
const list =
  (name: string): Check =>
  (args) =>
    Array.isArray(args) ? null : valueError(`${name} takes a list`, 'a list');

/** Forms of the arguments (reference 4, first table): every evaluated call must have them. */
const forms: Readonly<Record<FunctionName, Check>> = {
  get_input: checkGetInput,
  get_property: steps('get_property', 2, '[NODE, PROPERTY, KEY, ...]'),
  concat: list('concat'),
  merge: list('merge'),
  string_find: count('string_find', 2, 2, FIND),
  string_replace: count('string_replace', 3, 4, REPLACE),
  string_split: count('string_split', 2, 3, SPLIT),
  string_lower: oneArgument('string_lower'),
  string_upper: oneArgument('string_upper'),
  get_attribute: steps('get_attribute', 2, '[NODE, ATTRIBUTE, KEY, ...]'),
  get_attributes_list: steps('get_attributes_list', 2, '[NODE, ATTRIBUTE, KEY, ...]'),
  get_attributes_dict: checkAttributesDict,
  get_secret: checkSecret,
  get_capability: steps('get_capability', 2, '[DEPLOYMENT, CAPABILITY, KEY, ...]'),
  get_group_capability: checkGroupCapability,
  get_environment_capability: checkEnvironment,
  get_label: checkLabel,
  get_sys: steps('get_sys', 2, SYS_EXPECTED),
  get_consumers: (args) =>
    args === 'ids' || args === 'names' || args === 'count'
      ? null
      : valueError('get_consumers takes ids, names or count', 'ids, names or count'),
};

/** Additional checks of a call in a blueprint, besides its form. */
const contents: Partial<Record<FunctionName, Check>> = {
  merge: (args) =>
    (args as Json[]).every(isJsonObject)
      ? null
      : formError('the items of merge are dicts', 'a list of dicts'),
  string_find: strings('string_find', 2, FIND),
  string_replace: strings('string_replace', 3, REPLACE),
  string_split: strings('string_split', 2, SPLIT),
  string_lower: oneString('string_lower'),
  string_upper: oneString('string_upper'),
  get_sys: checkSysNames,
};

export function checkForm(call: FunctionCall): ArgumentFault | null {
  return forms[call.name](call.args);
}

export function checkContents(call: FunctionCall): ArgumentFault | null {
  return contents[call.name]?.(call.args) ?? null;
}
