import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { DEFAULT_EVALUATIONS, emptyFrame, Evaluator, type Frame } from '../functions/evaluator';
import { FunctionFinder, mapPlaces, type Scope } from '../functions/places';
import { getInputHandler, getPropertyHandler, type PropertySource } from '../functions/property-functions';
import type { FunctionCall } from '../functions/registry';
import { valueHandlers } from '../functions/value-functions';
import type { ParsedPlan, PlanNode } from '../plan/plan';

/** Evaluates in a plan what can be evaluated before anything runs (reference 7, step 2). */
export function evaluatePlan(plan: ParsedPlan): Promise<ParsedPlan> {
  const nodes = new Map(plan.nodes.map((n) => [n.name, n]));
  const source: PropertySource = {
    getInput: (name) => (Object.hasOwn(plan.inputs, name) ? plan.inputs[name] : undefined),
    inputNames: () => Object.keys(plan.inputs),
    getProperties: (node) => nodes.get(node)?.properties ?? null,
    nodeOf: () => null,
  };
  const evaluator = new Evaluator({
    handlers: { ...valueHandlers, get_input: getInputHandler(source), get_property: getPropertyHandler(source) },
    budget: { left: DEFAULT_EVALUATIONS },
    relocate,
  });
  return mapPlaces(plan, (value, scope, path) => evaluator.evaluate(value, frameOf(scope), path));
}

function frameOf(scope: Scope): Frame {
  if (scope.kind === 'node') return { ...emptyFrame, selfNode: scope.node };
  if (scope.kind === 'relationship') return { ...emptyFrame, sourceNode: scope.node, targetNode: scope.target };
  return emptyFrame;
}

/** A function that was fetched from another node and stays for run time names that node instead of SELF. */
function relocate(call: FunctionCall, frame: Frame): Json {
  const { name, args, type } = call;
  const isSelf = Array.isArray(args) && args[0] === 'SELF' && name.startsWith('get_attribute') && frame.selfNode !== null;
  const moved: Json = isSelf ? [frame.selfNode!, ...(args as Json[]).slice(1)] : args;
  return type === undefined ? { [name]: moved } : { [name]: moved, type };
}

/** Flags the operations whose inputs still hold functions. */
export function markIntrinsicOperations(plan: ParsedPlan): ParsedPlan {
  const finder = new FunctionFinder();
  const mark = (operations: JsonObject | undefined): JsonObject | undefined => {
    if (operations === undefined || !finder.has(operations)) return operations;
    let result = operations;
    for (const name of Object.keys(operations)) {
      const operation = operations[name]!;
      if (!isJsonObject(operation) || operation.inputs === undefined || !finder.has(operation.inputs)) continue;
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
