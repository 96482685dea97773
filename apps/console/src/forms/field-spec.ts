/** Turns inputs and workflow parameters into fields of a form, each with its control. */

/** An input, a parameter, or a property of a data type, as declared in a plan. */
export interface ValueSchema {
  type?: string | null;
  description?: string | null;
  default?: unknown;
  required?: boolean;
  display_label?: string;
  hidden?: boolean;
  constraints?: Record<string, unknown>[];
  item_type?: string;
  display?: { rows?: number };
}

export type Schemas = Readonly<Record<string, ValueSchema>>;
/** Data types of the blueprint, as in its plan. */
export type DataTypes = Readonly<
  Record<string, { properties?: Schemas | null; description?: string | null }>
>;

/** Types whose values name a resource of the manager. */
export const PICKED = [
  'blueprint_id',
  'deployment_id',
  'secret_key',
  'node_id',
  'node_type',
  'node_instance',
  'scaling_group',
  'capability_value',
  'operation_name',
] as const;
export type Picked = (typeof PICKED)[number];

export interface Choice {
  text: string;
  value: unknown;
}

interface Common {
  name: string;
  label: string;
  /** The declared type, or the type of the default. */
  type: string;
  description: string | null;
  isRequired: boolean;
  /** Hidden by the blueprint's author: shown on demand. */
  isHidden: boolean;
  /** Undefined when there is no default. */
  default: unknown;
  /** The default is a function that the manager evaluates, so there is no value to show here. */
  isComputed: boolean;
  constraints: readonly Record<string, unknown>[];
}

/** One value, entered as a text. */
export interface TextField extends Common {
  control: 'text' | 'number' | 'json';
}
export interface AreaField extends Common {
  control: 'area';
  rows: number;
}
export interface ChoiceField extends Common {
  control: 'choice';
  choices: Choice[];
}
export interface PickField extends Common {
  control: 'pick';
  picked: Picked;
}
export interface ListField extends Common {
  control: 'list';
  item: FieldSpec;
}
/** A value of a data type. */
export interface PartsField extends Common {
  control: 'parts';
  parts: FieldSpec[];
}
export type FieldSpec = TextField | AreaField | ChoiceField | PickField | ListField | PartsField;

/** Maximum depth. Data types cannot contain themselves; more deeply nested ones are entered as JSON. */
const DEEPEST = 8;
const AREA_ROWS = 5;
const PLAIN = new Set(['string', 'regex']);

export interface FieldOptions {
  dataTypes?: DataTypes;
  /** Field of a workflow: null is a valid default there. For an input null means "no default". */
  isParameter?: boolean;
}

/** Returns the fields of a form in the order of the plan. */
export const fieldsOf = (schemas: Schemas, options: FieldOptions = {}): FieldSpec[] =>
  Object.entries(schemas).map(([name, schema]) => fieldOf(name, schema ?? {}, options));

/** Returns one field; the field of a data type contains the fields of its properties. */
export function fieldOf(name: string, schema: ValueSchema, options: FieldOptions = {}, depth = 0): FieldSpec {
  const { dataTypes = {} } = options;
  const common = commonOf(name, schema, options);
  const { type, constraints } = common;
  const allowed = constraints.find((one) => Array.isArray(one.valid_values))?.valid_values;
  if (type === 'boolean') return { ...common, control: 'choice', choices: choicesOf([true, false]) };
  if (type === 'list' && schema.item_type) {
    // Constraints of a list with `item_type` apply to each item.
    const of = { type: schema.item_type, constraints: schema.constraints };
    const item = fieldOf(name, of, options, depth + 1);
    return { ...common, control: 'list', item };
  }
  if (isPicked(type)) return { ...common, control: 'pick', picked: type };
  if (Array.isArray(allowed) && allowed.length > 0)
    return { ...common, control: 'choice', choices: choicesOf(allowed) };
  if (type === 'textarea') return { ...common, control: 'area', rows: schema.display?.rows ?? AREA_ROWS };
  if (type === 'integer' || type === 'float') return { ...common, control: 'number' };
  // Without a declared type: a text, or any value entered as JSON.
  if (PLAIN.has(type) || type === 'any') return { ...common, control: 'text' };
  const properties = depth < DEEPEST && Object.hasOwn(dataTypes, type) ? dataTypes[type]!.properties : null;
  if (!properties) return { ...common, control: 'json' };
  const parts = Object.entries(properties).map(([part, of]) => fieldOf(part, of ?? {}, options, depth + 1));
  return { ...common, control: 'parts', parts };
}

function commonOf(name: string, schema: ValueSchema, { isParameter = false }: FieldOptions): Common {
  const { default: usual, constraints } = schema;
  const hasDefault = usual !== undefined && usual !== null;
  const isComputed = isFunctionCall(usual);
  return {
    name,
    label: schema.display_label || name,
    type: schema.type ?? typeOfValue(usual),
    description: schema.description || null,
    isRequired: schema.required !== false && !hasDefault && !(isParameter && usual === null),
    isHidden: schema.hidden === true,
    default: hasDefault && !isComputed ? usual : undefined,
    isComputed,
    constraints: Array.isArray(constraints) ? constraints : [],
  };
}

const isPicked = (type: string): type is Picked => PICKED.some((one) => one === type);

const choicesOf = (values: readonly unknown[]): Choice[] =>
  values.map((value) => ({ text: textOfValue(value), value }));

/** Returns the text that a field shows for a value: strings unchanged, all else as JSON. */
export const textOfValue = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, null, typeof value === 'object' ? 1 : 0);

function typeOfValue(value: unknown): string {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object' && value !== null && !isFunctionCall(value)) return 'dict';
  return typeof value === 'string' ? 'string' : 'any';
}

/** Whether the value is an intrinsic function call: `{get_input: x}`, `{concat: [...]}`, with at most a `type` beside it. */
export function isFunctionCall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value).filter((name) => name !== 'type');
  return names.length === 1 && /^(get_\w+|concat|merge|string_\w+)$/.test(names[0]!);
}
