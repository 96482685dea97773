import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { Diagnostic } from '../diagnostics/diagnostic';
import { asResult, DslError } from '../diagnostics/dsl-error';
import { setOwn } from '../yaml/node';
import { AttributeFunctions } from './attribute-functions';
import { Evaluator, emptyFrame, type Frame, newEvaluationBudget } from './evaluator';
import { lookupHandlers } from './lookup-functions';
import { getInputHandler, getPropertyHandler, type PropertySource } from './property-functions';
import { asFunction } from './registry';
import type { FunctionContext, FunctionStorage } from './storage';
import { valueHandlers } from './value-functions';

export type Evaluated<T> = { ok: true; value: T } | { ok: false; error: Diagnostic };

export interface EvaluateOptions {
  context?: FunctionContext;
  /** Path of the value, for messages; `payload` by default. */
  path?: string;
}

function propertySource(
  storage: FunctionStorage,
  own: { node: string; properties: Json } | null,
): PropertySource {
  return {
    getInput: (name) => storage.getInput(name),
    inputNames: () => [],
    getProperties: async (node) =>
      own?.node === node ? own.properties : ((await storage.getNode(node))?.properties ?? null),
    nodeOf: async (instance) => (await storage.getNodeInstance(instance))?.node_id ?? null,
  };
}

function runtimeEvaluator(
  storage: FunctionStorage,
  own: { node: string; properties: Json } | null = null,
  showsFailures = false,
): Evaluator {
  const source = propertySource(storage, own);
  const attributes = new AttributeFunctions(storage, () => evaluator, showsFailures);
  const evaluator: Evaluator = new Evaluator({
    handlers: {
      ...valueHandlers,
      ...lookupHandlers(storage),
      ...attributes.handlers(),
      get_input: getInputHandler(source),
      get_property: getPropertyHandler(source),
    },
    budget: newEvaluationBudget(0),
  });
  return evaluator;
}

function frameFor(context: FunctionContext): Frame {
  return {
    ...emptyFrame,
    self: context.self ?? null,
    source: context.source ?? null,
    target: context.target ?? null,
  };
}

/** A plan's record of calls into other deployments: it describes functions and must not be evaluated itself. */
const RECORD = 'inter_deployment_functions';

/** Evaluates every function inside `value` at run time; all functions are available. */
export function evaluateFunctions(
  value: Json,
  storage: FunctionStorage,
  options: EvaluateOptions = {},
): Promise<Evaluated<Json>> {
  return asResult(async () => {
    const hasRecord = isJsonObject(value) && Object.hasOwn(value, RECORD);
    const evaluated = await runtimeEvaluator(storage).evaluate(
      hasRecord ? { ...value, [RECORD]: null } : value,
      frameFor(options.context ?? {}),
      options.path ?? 'payload',
    );
    return hasRecord ? { ...(evaluated as JsonObject), [RECORD]: value[RECORD]! } : evaluated;
  });
}

/** Evaluates the properties of a node at run time; `instanceId`: the requesting instance, if any. */
export function evaluateNodeProperties<T extends { id: string; properties: JsonObject }>(
  node: T,
  storage: FunctionStorage,
  instanceId: string | null = null,
): Promise<Evaluated<T>> {
  return asResult(async () => {
    const evaluator = runtimeEvaluator(storage, { node: node.id, properties: node.properties });
    const frame: Frame = { ...emptyFrame, selfNode: node.id, self: instanceId };
    return {
      ...node,
      properties: (await evaluator.evaluate(
        node.properties,
        frame,
        `nodes.${node.id}.properties`,
      )) as JsonObject,
    };
  });
}

/**
 * Evaluates outputs or capabilities (reference 4, "Outputs/capabilities evaluation"). An entry that consists only of a
 * get_secret of a missing secret is left out. A get_attribute of an output that finds no instance gives `<ERROR: ...>`.
 */
export function evaluateOutputs(
  definitions: JsonObject,
  storage: FunctionStorage,
  section: 'outputs' | 'capabilities' = 'outputs',
): Promise<Evaluated<JsonObject>> {
  return asResult(async () => {
    const result: JsonObject = {};
    for (const name of Object.keys(definitions)) {
      const definition = definitions[name]!;
      const value: Json = isJsonObject(definition) ? (definition.value ?? null) : definition;
      const evaluator = runtimeEvaluator(storage, null, section === 'outputs');
      try {
        setOwn(result, name, await evaluator.evaluate(value, emptyFrame, `${section}.${name}`));
      } catch (error) {
        if (!(error instanceof DslError)) throw error;
        if (error.diagnostic.kind === 'unknown_secrets' && asFunction(value)?.name === 'get_secret') continue;
        throw error;
      }
    }
    return result;
  });
}
