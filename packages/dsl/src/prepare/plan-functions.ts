import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { Evaluator, emptyFrame, type Frame, newEvaluationBudget } from '../functions/evaluator';
import { type FunctionFinder, mapPlaces, type Scope } from '../functions/places';
import { getInputHandler, getPropertyHandler, type PropertySource } from '../functions/property-functions';
import type { FunctionCall } from '../functions/registry';
import { valueHandlers } from '../functions/value-functions';
import type { ParsedPlan, PlanNode } from '../plan/plan';

/** Evaluates the functions of a plan that do not need run time (reference 7, step 2). */
export function evaluatePlan(plan: ParsedPlan, finder: FunctionFinder): Promise<ParsedPlan> {
  const nodes = new Map(plan.nodes.map((n) => [n.name, n]));
  const source: PropertySource = {
    getInput: (name) => (Object.hasOwn(plan.inputs, name) ? plan.inputs[name] : undefined),
    inputNames: () => Object.keys(plan.inputs),
    getProperties: (node) => nodes.get(node)?.properties ?? null,
    nodeOf: () => null,
  };
  const evaluator = new Evaluator({
    handlers: {
      ...valueHandlers,
      get_input: getInputHandler(source),
      get_property: getPropertyHandler(source),
    },
    budget: newEvaluationBudget(plan.nodes.length),
    relocate,
  });
  return mapPlaces(
    plan,
    (value, scope, path) => evaluator.evaluate(value, frameOf(scope), path),
    finder,
  ).then((evaluated) => shareInputs(plan, evaluated));
}

/**
 * `interfaces` have the same inputs as the resolved operations, so they get the evaluated inputs too. Inputs of scripts
 * are a copy that includes the script, and stay.
 */
function shareInputs(before: ParsedPlan, after: ParsedPlan): ParsedPlan {
  const nodes = after.nodes.map((node, i): PlanNode => {
    const old = before.nodes[i]!;
    if (node.operations === old.operations && node.relationships === old.relationships) return node;
    const relationships = node.relationships.map((r, k) => {
      const source_interfaces = follow(
        r.source_interfaces,
        old.relationships[k]!.source_operations,
        r.source_operations,
      );
      const target_interfaces = follow(
        r.target_interfaces,
        old.relationships[k]!.target_operations,
        r.target_operations,
      );
      return source_interfaces === r.source_interfaces && target_interfaces === r.target_interfaces
        ? r
        : { ...r, source_interfaces, target_interfaces };
    });
    return { ...node, interfaces: follow(node.interfaces, old.operations, node.operations), relationships };
  });
  return { ...after, nodes };
}

function follow(
  interfaces: JsonObject,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): JsonObject {
  if (before === after || !before || !after) return interfaces;
  const result: JsonObject = { ...interfaces };
  for (const name of Object.keys(interfaces)) {
    const operations = interfaces[name]!;
    if (!isJsonObject(operations)) continue;
    for (const op of Object.keys(operations)) {
      const old = before[`${name}.${op}`];
      const now = after[`${name}.${op}`];
      const written = operations[op]!;
      if (
        old === now ||
        !isJsonObject(now) ||
        !isJsonObject(old) ||
        !isJsonObject(written) ||
        !isJsonObject(written.inputs)
      )
        continue;
      const names = Object.keys(now.inputs as JsonObject);
      if (names.length !== Object.keys(written.inputs).length) continue;
      result[name] = { ...(result[name] as JsonObject), [op]: { ...written, inputs: now.inputs! } };
    }
  }
  return result;
}

function frameOf(scope: Scope): Frame {
  if (scope.kind === 'node') return { ...emptyFrame, selfNode: scope.node };
  if (scope.kind === 'relationship')
    return { ...emptyFrame, sourceNode: scope.node, targetNode: scope.target };
  return emptyFrame;
}

/** In a function that was read from another node and stays for run time, SELF is replaced by the name of that node. */
function relocate(call: FunctionCall, frame: Frame): Json {
  const { name, args, type } = call;
  const isSelf =
    Array.isArray(args) && args[0] === 'SELF' && name.startsWith('get_attribute') && frame.selfNode !== null;
  const moved: Json = isSelf ? [frame.selfNode!, ...(args as Json[]).slice(1)] : args;
  return type === undefined ? { [name]: moved } : { [name]: moved, type };
}

/** Flags the operations whose inputs still contain functions. */
export function markIntrinsicOperations(plan: ParsedPlan, finder: FunctionFinder): ParsedPlan {
  const mark = (operations: JsonObject | undefined): JsonObject | undefined => {
    if (operations === undefined || !finder.has(operations)) return operations;
    let result = operations;
    for (const name of Object.keys(operations)) {
      const operation = operations[name]!;
      // an input may have the name of a function: the inputs together are never a call
      if (
        !isJsonObject(operation) ||
        !isJsonObject(operation.inputs) ||
        !Object.values(operation.inputs).some((v) => finder.has(v))
      )
        continue;
      if (result === operations) result = { ...operations };
      result[name] = { ...operation, has_intrinsic_functions: true };
    }
    return result;
  };
  const nodes = plan.nodes.map((node): PlanNode => {
    const operations = mark(node.operations);
    let isChanged = operations !== node.operations;
    const relationships = node.relationships.map((r) => {
      const source = mark(r.source_operations);
      const target = mark(r.target_operations);
      if (source === r.source_operations && target === r.target_operations) return r;
      isChanged = true;
      return { ...r, source_operations: source!, target_operations: target! };
    });
    return isChanged ? { ...node, operations: operations!, relationships } : node;
  });
  return { ...plan, nodes };
}
