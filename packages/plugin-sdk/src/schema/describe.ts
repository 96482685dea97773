import type { Json } from '@baton/kernel';
import type { z } from 'zod';
import { givenDefault } from './default-from';
import { DefinitionError } from './definition-error';
import { isMarkedSensitive } from './sensitive';

/** A schema of properties, inputs or runtime properties. */
export type ObjectSchema = z.ZodObject<z.ZodRawShape>;

/** Primitive types of the blueprint language. */
export type DslType = 'string' | 'integer' | 'float' | 'boolean' | 'list' | 'dict';

/** A constraint of the blueprint language, for instance `{ min_length: 3 }`. */
export type Constraint = Record<string, Json>;

/** A value as the blueprint language describes it. */
export interface Described {
  /** Undefined: any value. */
  type?: DslType;
  /** The schema of an object: it becomes a data type. */
  object?: ObjectSchema;
  isRequired: boolean;
  default?: Json;
  description?: string;
  constraints: Constraint[];
  isSensitive: boolean;
  /** The default is a function of the language. */
  isComputed?: boolean;
}

const DESCRIBABLE =
  'a string, number, boolean, enum, literal, array, record, object, union or any, also optional or with a default';

/** Deepest nesting of a schema that is described. */
const MAX_DEPTH = 32;

type Def = z.core.$ZodTypes['_zod']['def'];

/** Returns how zod holds the schema; the one place that looks into it. */
function defOf(schema: z.ZodType): Def {
  return (schema as unknown as z.core.$ZodTypes)._zod.def;
}

/**
 * Describes a schema for the blueprint language.
 * @throws DefinitionError for a value that YAML or JSON cannot hold
 */
function describe(schema: z.ZodType, path: readonly string[]): Described {
  if (path.length > MAX_DEPTH)
    throw new DefinitionError(path, 'is nested too deep', `at most ${MAX_DEPTH} levels`);
  const inner = unwrap(schema, path);
  const shape = shapeOf(inner.schema, path);
  // The language checks the type of a default before it computes it.
  return inner.wrapping.isComputed ? { ...inner.wrapping, constraints: [] } : { ...inner.wrapping, ...shape };
}

interface Unwrapped {
  schema: z.ZodType;
  wrapping: Pick<Described, 'isRequired' | 'default' | 'description' | 'isSensitive' | 'isComputed'>;
}

/** Takes off optional, default and the like; what they say is kept. */
function unwrap(schema: z.ZodType, path: readonly string[]): Unwrapped {
  const wrapping: Unwrapped['wrapping'] = { isRequired: true, isSensitive: false };
  let at = schema;
  for (;;) {
    wrapping.isSensitive ||= isMarkedSensitive(at);
    wrapping.description ??= at.description;
    const given = givenDefault(at);
    if (given !== undefined) Object.assign(wrapping, { isRequired: false, default: given, isComputed: true });
    const def = defOf(at);
    if (def.type === 'optional' || def.type === 'nullable') wrapping.isRequired = false;
    else if (def.type === 'default' || def.type === 'prefault') {
      wrapping.isRequired = false;
      wrapping.default ??= jsonDefault(def.defaultValue, path);
    } else if (def.type !== 'readonly' && def.type !== 'nonoptional') return { schema: at, wrapping };
    at = def.innerType as z.ZodType;
  }
}

function jsonDefault(value: unknown, path: readonly string[]): Json {
  const text = JSON.stringify(value);
  if (text === undefined) throw new DefinitionError(path, 'the default is no JSON value', 'a JSON value');
  return JSON.parse(text) as Json;
}

function shapeOf(
  schema: z.ZodType,
  path: readonly string[],
): Pick<Described, 'type' | 'object' | 'constraints'> {
  const def = defOf(schema);
  switch (def.type) {
    case 'string':
      return { type: 'string', constraints: lengthConstraints(def) };
    case 'template_literal':
      return { type: 'string', constraints: [] };
    case 'number':
      return { type: isInteger(def) ? 'integer' : 'float', constraints: rangeConstraints(def) };
    case 'boolean':
      return { type: 'boolean', constraints: [] };
    case 'enum':
      return ofValues(Object.values(def.entries));
    case 'literal':
      return ofValues(def.values);
    case 'array':
      describe(def.element as z.ZodType, [...path, '[]']);
      return { type: 'list', constraints: [] };
    case 'tuple':
      def.items.forEach((item, i) => void describe(item as z.ZodType, [...path, String(i)]));
      return { type: 'list', constraints: [] };
    case 'record':
      describe(def.valueType as z.ZodType, [...path, '*']);
      return { type: 'dict', constraints: [] };
    case 'object':
      describeShape(schema as ObjectSchema, path);
      return { object: schema as ObjectSchema, constraints: [] };
    case 'union':
      def.options.forEach((option) => void describe(option as z.ZodType, path));
      return { constraints: [] };
    // A schema that names itself has no end; zod alone checks such values.
    case 'lazy':
    case 'any':
    case 'unknown':
    case 'null':
      return { constraints: [] };
    default:
      throw new DefinitionError(
        path,
        `a value of the kind ${def.type} cannot be written in YAML`,
        DESCRIBABLE,
      );
  }
}

const PROPERTY_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Describes all members of an object. @throws DefinitionError */
export function describeShape(schema: ObjectSchema, path: readonly string[]): Record<string, Described> {
  const described: Record<string, Described> = {};
  for (const [name, member] of Object.entries(schema.shape)) {
    const at = [...path, name];
    if (!PROPERTY_NAME.test(name))
      throw new DefinitionError(at, 'the name cannot stand in a blueprint', 'letters, digits, _ and -');
    described[name] = describe(member as z.ZodType, at);
  }
  return described;
}

function ofValues(values: readonly unknown[]): Pick<Described, 'type' | 'constraints'> {
  const kinds = new Set(values.map((value) => (Number.isInteger(value) ? 'integer' : typeof value)));
  const [kind] = kinds;
  const type =
    kinds.size === 1 && (kind === 'string' || kind === 'integer' || kind === 'boolean') ? kind : undefined;
  return { type, constraints: type === 'boolean' ? [] : [{ valid_values: [...values] as Json[] }] };
}

/** The checks of a schema: those that zod keeps in a list, and its own one (`z.int()`). */
function checksOf(def: Def): readonly z.core.$ZodChecks['_zod']['def'][] {
  const { checks = [] } = def as { checks?: readonly z.core.$ZodChecks[] };
  return [def as unknown as z.core.$ZodChecks['_zod']['def'], ...checks.map((check) => check._zod.def)];
}

const isInteger = (def: Def): boolean =>
  checksOf(def).some((check) => check.check === 'number_format' && check.format.includes('int'));

/** The constraints of the language for the bounds of a number, both included; other bounds are checked by zod alone. */
function rangeConstraints(def: Def): Constraint[] {
  return checksOf(def).flatMap((check): Constraint[] => {
    if (check.check === 'greater_than')
      return [{ [check.inclusive ? 'greater_or_equal' : 'greater_than']: Number(check.value) }];
    if (check.check === 'less_than')
      return [{ [check.inclusive ? 'less_or_equal' : 'less_than']: Number(check.value) }];
    return [];
  });
}

function lengthConstraints(def: Def): Constraint[] {
  return checksOf(def).flatMap((check): Constraint[] => {
    if (check.check === 'min_length') return [{ min_length: check.minimum }];
    if (check.check === 'max_length') return [{ max_length: check.maximum }];
    return [];
  });
}
