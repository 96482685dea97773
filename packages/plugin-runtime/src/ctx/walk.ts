import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { put, readPath, writePath } from './path-dict';

type Answer = CtxValue | undefined;
export type CtxValue = Json | CtxObject | CtxDict | CtxCallable;

/** An object with named attributes; each is read on access. `own`: the value of the object at the end of a walk. */
export class CtxObject {
  constructor(
    readonly name: string,
    readonly attributes: Readonly<Record<string, () => Answer | Promise<Answer>>>,
    readonly own: Json | undefined = undefined,
  ) {}
}

/** A dictionary that paths read and write. */
export class CtxDict {
  constructor(
    readonly value: JsonObject,
    readonly readOnlyText: string | null = null,
  ) {}
}

export class CtxCallable {
  constructor(readonly call: (args: Json[], kwargs: JsonObject) => Answer | Promise<Answer>) {}
}

/**
 * Returns the value at the end of a list of arguments, from `root` (reference/workflows.md 5.4).
 * @throws Error with the text of the reference when an argument leads nowhere.
 */
export async function walk(root: CtxObject, args: readonly Json[]): Promise<Json> {
  let current: Answer = root;
  for (const [i, arg] of args.entries()) {
    const attribute = attributeOf(current, arg);
    if (attribute) {
      current = await attribute();
      continue;
    }
    const rest = args.slice(i);
    if (current instanceof CtxCallable) return plain(await callWith(current, rest), args);
    const dict = current instanceof CtxDict ? current : isDictionary(current) ? new CtxDict(current) : null;
    if (dict) return dictStep(dict, rest);
    throw new Error(`${text(arg)} cannot be processed in ${JSON.stringify(args)}`);
  }
  if (current instanceof CtxCallable) current = await current.call([], {});
  return plain(current, args);
}

function isDictionary(value: Answer): value is JsonObject {
  return isJsonObject(value) && !(value instanceof CtxObject);
}

function attributeOf(current: Answer, arg: Json): (() => Answer | Promise<Answer>) | null {
  if (typeof arg !== 'string') return null;
  for (const name of [arg, arg.replaceAll('-', '_')]) {
    if (current instanceof CtxObject && Object.hasOwn(current.attributes, name))
      return current.attributes[name] as never;
    if (current instanceof CtxDict) {
      const method = dictMethod(current, name);
      if (method) return () => method;
    }
  }
  return null;
}

function dictStep(dict: CtxDict, rest: readonly Json[]): Json {
  const [path, value] = rest;
  if (rest.length > 2) throw new Error('Illegal argument while accessing dict');
  if (rest.length === 1) return readPath(dict.value, text(path ?? null));
  if (dict.readOnlyText !== null) throw new FatalError(dict.readOnlyText);
  writePath(dict.value, text(path ?? null), value ?? null);
  return null;
}

async function callWith(callable: CtxCallable, rest: readonly Json[]): Promise<Answer> {
  const last = rest.at(-1);
  return isJsonObject(last) ? callable.call(rest.slice(0, -1), last) : callable.call([...rest], {});
}

/** The methods of a Python dictionary that scripts use; they take precedence over keys of the same name. */
function dictMethod(dict: CtxDict, name: string): CtxCallable | null {
  const { value } = dict;
  const writable = (change: () => Answer): Answer => {
    if (dict.readOnlyText !== null) throw new FatalError(dict.readOnlyText);
    return change();
  };
  switch (name) {
    case 'keys':
      return new CtxCallable(() => Object.keys(value));
    case 'values':
      return new CtxCallable(() => Object.values(value));
    case 'items':
      return new CtxCallable(() => Object.entries(value) as Json);
    case 'get':
      return new CtxCallable(([key, otherwise]) =>
        Object.hasOwn(value, text(key ?? null)) ? value[text(key ?? null)] : (otherwise ?? null),
      );
    case 'pop':
      return new CtxCallable(([key, otherwise]) =>
        writable(() => {
          const taken = Object.hasOwn(value, text(key ?? null)) ? value[text(key ?? null)] : otherwise;
          if (taken === undefined) throw new Error(`no key ${text(key ?? null)}`);
          delete value[text(key ?? null)];
          return taken;
        }),
      );
    case 'update':
      return new CtxCallable((args, kwargs) =>
        writable(() => {
          for (const more of [...args.filter(isJsonObject), kwargs])
            for (const [key, item] of Object.entries(more)) put(value, key, item);
          return undefined;
        }),
      );
    case 'clear':
      return new CtxCallable(() =>
        writable(() => {
          for (const key of Object.keys(value)) delete value[key];
          return undefined;
        }),
      );
    default:
      return null;
  }
}

function text(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function plain(value: Answer, args: readonly Json[]): Json {
  if (value instanceof CtxDict) return value.value;
  if (value instanceof CtxObject) {
    if (value.own !== undefined) return value.own;
    const names = Object.keys(value.attributes).join(', ');
    throw new Error(`${value.name} is not a single value; ask for one of its attributes: ${names}`);
  }
  if (value instanceof CtxCallable) throw new Error(`${JSON.stringify(args)} is not a value`);
  return value ?? null;
}
