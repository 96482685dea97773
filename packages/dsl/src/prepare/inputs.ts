import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { checkValue, constraintsOf, newMatchingBudget, type ValueContext } from '../constraints/check-value';
import { type Diagnostic, Diagnostics, diagnostic } from '../diagnostics/diagnostic';
import { DataTypes } from '../elements/data-types';
import { type ElementContext, newWorkBudget } from '../elements/element-context';
import { primitiveTypes } from '../elements/primitive-types';
import { fitsPrimitive, isTruthy, typedValue } from '../elements/typed-value';
import type { ParsedPlan } from '../plan/plan';
import { fromJson, type MapNode, setOwn, toJson } from '../yaml/node';

export interface InputOptions extends ValueContext {
  /** Whether strings are cast to the declared type. */
  autoCorrectTypes?: boolean;
}

/** The part of a plan that declares the inputs; without a version, the newest one is assumed. */
export type DeclaredInputs = Pick<ParsedPlan, 'inputs' | 'data_types'> & Partial<Pick<ParsedPlan, 'version'>>;

/** Returns the values of a deployment's inputs (reference 7, step 1), and all faults in them. */
export async function resolveInputs(
  plan: DeclaredInputs,
  given: JsonObject,
  options: InputOptions,
): Promise<{ inputs: JsonObject; diagnostics: Diagnostic[] }> {
  const resolver = new InputResolver(plan, options);
  const provided: JsonObject = {};
  const defaulted: JsonObject = {};
  const missing: string[] = [];
  for (const name of Object.keys(plan.inputs)) {
    const declared = plan.inputs[name]!;
    const schema = isJsonObject(declared) ? declared : {};
    const isGiven = Object.hasOwn(given, name);
    const value = isGiven ? given[name]! : resolver.defaultOf(schema);
    if (value === undefined) {
      if (schema.required !== false) missing.push(name);
      else setOwn(defaulted, name, null);
      continue;
    }
    setOwn(isGiven ? provided : defaulted, name, await resolver.check(name, schema, value));
  }
  const diagnostics = resolver.found;
  const expected = Object.keys(plan.inputs);
  if (missing.length > 0) {
    diagnostics.push(
      diagnostic(
        'missing_inputs',
        `Required inputs ${list(missing)} were not specified - expected inputs: ${list(expected)}`,
        { path: `inputs.${missing[0]}`, value: missing, expected: `values for ${missing.join(', ')}` },
      ),
    );
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(plan.inputs, name)) continue;
    diagnostics.push(
      diagnostic('unknown_input', `Unknown input "${name}" - expected inputs: ${list(expected)}`, {
        path: `inputs.${name}`,
        value: name,
        name,
        valid: expected,
      }),
    );
  }
  return { inputs: { ...provided, ...defaulted }, diagnostics };
}

const list = (names: string[]): string =>
  `[${names.slice(0, 50).join(', ')}${names.length > 50 ? ', ...' : ''}]`;

class InputResolver {
  readonly found: Diagnostic[] = [];
  private readonly diagnostics = new Diagnostics();
  private readonly dataTypes: DataTypes;
  private readonly context: ElementContext;
  private readonly options: InputOptions;

  constructor(plan: DeclaredInputs, options: InputOptions) {
    this.options = { ...options, matching: options.matching ?? newMatchingBudget() };
    const types = fromJson({ data_types: withoutNulls(plan.data_types) }) as MapNode;
    this.context = {
      root: types,
      diagnostics: new Diagnostics(),
      version: plan.version?.definitions_version ?? [1, 5],
      validateVersion: false,
      isScript: () => false,
      work: newWorkBudget(),
      partialNodes: new Set(),
    };
    this.dataTypes = new DataTypes(this.context);
    this.context = { ...this.context, diagnostics: this.diagnostics };
  }

  /** Returns the value of an absent input; undefined when it has no default. */
  defaultOf(schema: JsonObject): Json | undefined {
    if (schema.default !== undefined && schema.default !== null) return schema.default;
    if (typeof schema.type !== 'string' || !this.dataTypes.has(schema.type)) return undefined;
    const before = this.diagnostics.list.length;
    const value = toJson(this.typed(schema.type, {}, ''));
    const isComplete = this.diagnostics.list.length === before;
    this.diagnostics.list.length = before;
    return isComplete && isTruthy(value) ? value : undefined;
  }

  private typed(type: string | null, value: Json, name: string): ReturnType<typeof typedValue> {
    const check = {
      context: { ...this.context, diagnostics: this.diagnostics },
      dataTypes: this.dataTypes,
      owner: `input "${name}"`,
      path: `inputs.${name}`,
      allowMissing: false,
    };
    return typedValue(check, fromJson(value), type, undefined, check.path);
  }

  /** Checks a value and returns it with the defaults of its data type. */
  async check(name: string, schema: JsonObject, given: Json): Promise<Json> {
    const type = typeof schema.type === 'string' ? schema.type : null;
    const itemType = typeof schema.item_type === 'string' ? schema.item_type : null;
    const value = this.options.autoCorrectTypes ? correct(given, type, itemType) : given;
    const path = `inputs.${name}`;
    this.checkItems(name, value, itemType);
    this.found.push(
      ...(await checkValue(
        { owner: `input "${name}"`, path, value, type, itemType, constraints: constraintsOf(schema) },
        this.options,
      )),
    );
    if (type === null || (!primitiveTypes.has(type) && !this.dataTypes.has(type))) return value;
    const before = this.diagnostics.list.length;
    const typed = toJson(this.typed(type, value, name));
    for (const fault of this.diagnostics.list.slice(before)) {
      this.found.push({
        ...diagnostic('input_value_mismatch', fault.message, {
          path: fault.path,
          value,
          expected: fault.expected ?? type,
        }),
        ...(fault.nearest ? { nearest: fault.nearest } : {}),
      });
    }
    return typed;
  }

  private checkItems(name: string, value: Json, itemType: string | null): void {
    if (itemType === null || !Array.isArray(value)) return;
    value.forEach((item, i) => {
      if (fitsPrimitive(fromJson(item), itemType)) return;
      this.found.push(
        diagnostic('type_mismatch', `item ${i} of the input "${name}" is not of the type ${itemType}`, {
          path: `inputs.${name}[${i}]`,
          value: item,
          expected: itemType,
        }),
      );
    });
  }
}

/** Removes null fields: plans write absent fields of data types as null. */
function withoutNulls(types: JsonObject | undefined): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(types ?? {})) {
    const type = types![name]!;
    if (!isJsonObject(type)) continue;
    setOwn(
      result,
      name,
      Object.fromEntries(
        Object.entries(type).filter(([key, value]) => value !== null && key !== 'derived_from'),
      ) as JsonObject,
    );
  }
  return result;
}

const INTEGER = /^\s*[-+]?\d+(?:_\d+)*\s*$/;
const FLOAT = /^\s*[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][-+]?\d+)?\s*$/;

/** Casts a string to a number or boolean when the type requires it; a string that cannot be cast stays as it is. */
function correct(value: Json, type: string | null, itemType: string | null): Json {
  if (type === 'list' && itemType !== null && Array.isArray(value))
    return value.map((item) => correct(item, itemType, null));
  if (typeof value !== 'string' || value.length > 400) return value;
  if (type === 'integer' && INTEGER.test(value)) return Number(value.replaceAll('_', ''));
  if (type === 'float' && FLOAT.test(value)) return Number(value.replaceAll('_', ''));
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
