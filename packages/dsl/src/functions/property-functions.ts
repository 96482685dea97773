import type { Json } from '@baton/kernel';
import { fail } from '../diagnostics/dsl-error';
import {
  emptyFrame,
  type Frame,
  failedFunction,
  type Handler,
  hasUnresolved,
  type Outcome,
} from './evaluator';
import { pathText, type Walked, walkPath } from './path-walk';
import { asFunction, isFunction } from './registry';

type Awaitable<T> = T | Promise<T>;

/** Data source of get_input and get_property: a plan before run time, the storage later. */
export interface PropertySource {
  getInput(name: string): Awaitable<Json | undefined>;
  inputNames(): Iterable<string>;
  /** Properties of a node; null when there is no such node. */
  getProperties(node: string): Awaitable<Json | null>;
  /** The node of an instance. */
  nodeOf(instance: string): Awaitable<string | null>;
}

const REASONS = {
  'missing key': 'does not exist',
  'not an index': 'is not an index of a list',
  'out of range': 'is out of range',
  'no container': 'leads into a value that is neither list nor dict',
} as const;

export function getInputHandler(source: PropertySource): Handler {
  return async (args, _frame, path) => {
    const list = Array.isArray(args) ? args : [args];
    if (hasUnresolved(list))
      failedFunction(
        'get_input',
        `found an unresolved argument in path ${path}: ${JSON.stringify(args)}`,
        path,
      );
    const [name, ...rest] = list as [string, ...Json[]];
    const value = await source.getInput(name);
    if (value === undefined)
      fail('unknown_input', `there is no input "${name}"`, { path, name, valid: source.inputNames() });
    const walked = walkPath(value!, rest);
    if (walked.kind === 'value') return { value: walked.value };
    // the rest of the path waits until the function at this place has a value
    if (walked.kind === 'function') return 'deferred';
    const kind = walked.reason === 'no container' ? 'function_failed' : 'input_path';
    return fail(
      kind,
      `Unable to evaluate get_input function: "${pathText([walked.at])}" of the input "${name}" ${REASONS[walked.reason]}`,
      { path, value: walked.at },
    );
  };
}

/** Returns the frame for functions in the properties of another node. */
function frameOf(node: string, instance: string | null, frame: Frame): Frame {
  return { ...emptyFrame, selfNode: node, self: instance, origin: frame.origin ?? frame };
}

async function resolveNode(
  source: PropertySource,
  ref: string,
  frame: Frame,
  path: string,
): Promise<{ node: string; frame: Frame }> {
  const special = {
    SELF: [frame.selfNode, frame.self],
    SOURCE: [frame.sourceNode, frame.source],
    TARGET: [frame.targetNode, frame.target],
  } as const;
  if (!Object.hasOwn(special, ref))
    return { node: ref, frame: ref === frame.selfNode ? frame : frameOf(ref, null, frame) };
  const [node, instance] = special[ref as keyof typeof special];
  const name = node ?? (instance === null ? null : await source.nodeOf(instance));
  if (name === null)
    return fail('function_argument', `get_property: ${ref} means nothing here`, { path, value: ref });
  return { node: name, frame: ref === 'SELF' ? frame : frameOf(name, instance, frame) };
}

export function getPropertyHandler(source: PropertySource): Handler {
  return async (args, frame, path): Promise<Outcome> => {
    const list = args as Json[];
    if (list.some((a) => isFunction(a)))
      failedFunction(
        'get_property',
        `found an unresolved argument in path ${path}: ${JSON.stringify(args)}`,
        path,
      );
    const [ref, ...rest] = list as [string, ...Json[]];
    const target = await resolveNode(source, String(ref), frame, path);
    const properties = await source.getProperties(target.node);
    if (properties === null)
      fail('unknown_node', `get_property names the unknown node "${target.node}"`, {
        path,
        value: target.node,
      });
    const walked = await walkThroughInput(source, properties!, rest);
    if (walked.kind === 'value') return { value: walked.value, frame: target.frame };
    if (walked.kind === 'function') return followFunction(walked.value, walked.rest, target.frame);
    return failedFunction(
      'get_property',
      `"${pathText(rest)}" of the node "${target.node}": "${pathText([walked.at])}" ${REASONS[walked.reason]}`,
      path,
    );
  };
}

/** Reads an input on the way at once, so that a key missing in the input is reported as missing in the property. */
async function walkThroughInput(source: PropertySource, value: Json, path: Json[]): Promise<Walked> {
  const walked = walkPath(value, path);
  const call = walked.kind === 'function' ? asFunction(walked.value) : null;
  if (walked.kind !== 'function' || call?.name !== 'get_input') return walked;
  const [name, ...keys] = Array.isArray(call.args) ? call.args : [call.args];
  if (typeof name !== 'string' || hasUnresolved(keys)) return walked;
  const input = await source.getInput(name);
  const own = input === undefined ? null : walkPath(input, keys);
  return own?.kind === 'value' ? walkPath(own.value, walked.rest) : walked;
}

/** A function is on the way to a nested property: the rest of the path becomes part of the call. */
function followFunction(value: Json, rest: Json[], frame: Frame): Outcome {
  const call = value as Record<string, Json>;
  const name = Object.keys(call).find((k) => k !== 'type')!;
  const args = call[name]!;
  // get_input, get_property, get_attribute, get_secret and get_capability all accept the rest as further items
  return { value: { [name]: [...(Array.isArray(args) ? args : [args]), ...rest] }, frame };
}
