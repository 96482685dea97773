import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { isSame } from '../constraints/check-value';
import { diagnostic, shownValue } from '../diagnostics/diagnostic';
import { DslError, fail } from '../diagnostics/dsl-error';
import { primitiveTypes } from '../elements/primitive-types';
import { fitsPrimitive } from '../elements/typed-value';
import { fromJson, setOwn } from '../yaml/node';
import { checkForm } from './arguments';
import { asFunction, type FunctionCall, type FunctionName, isFunction } from './registry';

/** Meaning of SELF, SOURCE and TARGET. Instances exist only at run time. */
export interface Frame {
  selfNode: string | null;
  sourceNode: string | null;
  targetNode: string | null;
  self: string | null;
  source: string | null;
  target: string | null;
  /** The frame in which evaluation began; set after get_property has led into another node. */
  origin: Frame | null;
}

export const emptyFrame: Frame = {
  selfNode: null,
  sourceNode: null,
  targetNode: null,
  self: null,
  source: null,
  target: null,
  origin: null,
};

/** Result of a function: a value (to be evaluated further in `frame`), or none before run time. */
export type Outcome = { value: Json; frame?: Frame } | 'deferred';

export type Handler = (args: Json, frame: Frame, path: string) => Promise<Outcome> | Outcome;

const RECURSION_LIMIT = 50;

export interface EvaluatorOptions {
  handlers: Partial<Record<FunctionName, Handler>>;
  /** Remaining evaluations before the evaluation is refused. */
  budget: { left: number };
  /** Rewrites a function that was read from another node and stays for run time. */
  relocate?: (call: FunctionCall, frame: Frame) => Json;
}

/** Returns the evaluations allowed for a plan with this number of nodes; real plans need a few per written function. */
export function newEvaluationBudget(nodes: number): { left: number } {
  return { left: 50_000 + 30 * nodes };
}

/** "Unable to evaluate F function: ..." */
export function failedFunction(name: string, message: string, path: string): never {
  return fail('function_failed', `Unable to evaluate ${name} function: ${message}`, { path });
}

/**
 * Evaluates functions inside a value: first the arguments, then the function, then its result, until nothing changes
 * (reference 4, "Evaluation algorithm").
 */
export class Evaluator {
  constructor(private readonly options: EvaluatorOptions) {}

  async evaluate(value: Json, frame: Frame, path: string, depth = 0): Promise<Json> {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      let result = value;
      for (let i = 0; i < value.length; i++) {
        const item = value[i]!;
        const evaluated =
          typeof item === 'object' && item !== null
            ? await this.evaluate(item, frame, `${path}[${i}]`, depth)
            : item;
        if (evaluated === item) continue;
        if (result === value) result = [...value];
        result[i] = evaluated;
      }
      return result;
    }
    const call = asFunction(value);
    return call ? this.call(call, value, frame, path, depth) : this.object(value, frame, path, depth);
  }

  private async object(value: JsonObject, frame: Frame, path: string, depth: number): Promise<Json> {
    let result = value;
    for (const key of Object.keys(value)) {
      const inner = value[key]!;
      if (typeof inner !== 'object' || inner === null) continue;
      const evaluated = await this.evaluate(inner, frame, path === '' ? key : `${path}.${key}`, depth);
      if (evaluated === inner) continue;
      if (result === value) result = { ...value };
      setOwn(result, key, evaluated);
    }
    return result;
  }

  private async call(
    call: FunctionCall,
    value: JsonObject,
    frame: Frame,
    path: string,
    depth: number,
  ): Promise<Json> {
    if (depth > RECURSION_LIMIT) {
      fail(
        'recursion_limit',
        `The recursion limit (${RECURSION_LIMIT}) has been reached while evaluating the deployment. Limit was reached with the following path - ${path}`,
        { path },
      );
    }
    if (--this.options.budget.left < 0) {
      throw new DslError(
        diagnostic('limit_exceeded', 'the functions of this blueprint lead to too many evaluations', {
          path,
          expected: 'fewer functions that lead to each other',
        }),
      );
    }
    const args = await this.evaluate(call.args, frame, `${path}.${call.name}`, depth + 1);
    const evaluated: FunctionCall = { ...call, args };
    const remaining: JsonObject = args === call.args ? value : { ...value, [call.name]: args };
    const handler = this.options.handlers[call.name];
    const fault = checkForm(evaluated);
    if (fault) fail(fault.kind, fault.message, { path, value: remaining, expected: fault.expected });
    if (!handler) return this.remain(evaluated, remaining, frame);
    const outcome = await handler(args, frame, path);
    if (outcome === 'deferred') return this.remain(evaluated, remaining, frame);
    // a property that consists only of a reference to itself stands for itself
    if (isSame(outcome.value, remaining) || isSame(outcome.value, value)) return outcome.value;
    const result = await this.evaluate(outcome.value, outcome.frame ?? frame, path, depth + 1);
    this.checkType(evaluated, result, path);
    return result;
  }

  private remain(call: FunctionCall, remaining: JsonObject, frame: Frame): Json {
    return frame.origin !== null && this.options.relocate ? this.options.relocate(call, frame) : remaining;
  }

  private checkType(call: FunctionCall, value: Json, path: string): void {
    if (typeof call.type !== 'string' || !primitiveTypes.has(call.type) || isFunction(value)) return;
    if (call.name !== 'get_input') return;
    if (fitsPrimitive(fromJson(value), call.type)) return;
    fail('input_path', `${call.name} gives ${shownValue(value)}, but the type ${call.type} is wanted`, {
      path,
      value,
      expected: call.type,
    });
  }
}

/** Whether any item is still a function. */
export function hasUnresolved(args: Json): boolean {
  if (Array.isArray(args)) return args.some((a) => hasUnresolved(a));
  return isFunction(args) || (isJsonObject(args) && Object.values(args).some((v) => hasUnresolved(v)));
}
