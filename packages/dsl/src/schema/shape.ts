/** A small language for the form of the blueprint's elements: tables.ts is written in it; checks and docs read it. */

export type Version = readonly number[];

/** Effect of a namespaced import on a value: it gets a prefix. The kind determines when it does not. */
export type Reference = 'name' | 'type' | 'implementation';

interface Common {
  doc?: string;
}

export interface ScalarShape extends Common {
  t: 'text' | 'integer' | 'number' | 'boolean';
  /** Whether null may replace a list's item; another check reports it. */
  isNullable?: boolean;
  reference?: Reference;
  oneOf?: readonly string[];
}
/** Any value; functions inside are recognised. */
export interface ValueShape extends Common {
  t: 'value';
}
/** A mapping with free content. */
export interface DictShape extends Common {
  t: 'dict';
  /** Whether keys may be other than texts. */
  anyKeys?: boolean;
}
export interface ListShape extends Common {
  t: 'list';
  of: Shape;
}
/** name -> element */
export interface NamedShape extends Common {
  t: 'named';
  of: Shape;
}
export interface Field {
  shape: Shape;
  required?: boolean;
  /** Definitions version that introduced the field. */
  since?: Version;
  doc?: string;
}
export interface ObjectShape extends Common {
  t: 'object';
  name: string;
  fields: Readonly<Record<string, Field>>;
  /** A null element of this kind has its own error kind. */
  nullKind?: 'null_schema';
}
export interface EitherShape extends Common {
  t: 'either';
  of: readonly Shape[];
}

export type Shape = ScalarShape | ValueShape | DictShape | ListShape | NamedShape | ObjectShape | EitherShape;

export const text = (reference?: Reference): ScalarShape =>
  reference ? { t: 'text', reference } : { t: 'text' };
export const nullable = (shape: ScalarShape): ScalarShape => ({ ...shape, isNullable: true });
export const integer: ScalarShape = { t: 'integer' };
export const number: ScalarShape = { t: 'number' };
export const boolean: ScalarShape = { t: 'boolean' };
export const value: ValueShape = { t: 'value' };
export const dict: DictShape = { t: 'dict' };
export const list = (of: Shape): ListShape => ({ t: 'list', of });
export const named = (of: Shape): NamedShape => ({ t: 'named', of });
export const either = (...of: Shape[]): EitherShape => ({ t: 'either', of });
export const object = (name: string, fields: Record<string, Field>): ObjectShape => ({
  t: 'object',
  name,
  fields,
});
export const required = (shape: Shape, doc?: string): Field => ({
  shape,
  required: true,
  ...(doc ? { doc } : {}),
});
export const optional = (shape: Shape, doc?: string, since?: Version): Field => ({
  shape,
  ...(doc ? { doc } : {}),
  ...(since ? { since } : {}),
});

/** Returns the name of a shape's type, in the words of the language. */
export function shapeName(shape: Shape): string {
  switch (shape.t) {
    case 'text':
      return 'string';
    case 'number':
      return 'float';
    case 'value':
      return 'any value';
    case 'named':
    case 'object':
      return 'dict';
    case 'either':
      return shape.of.map(shapeName).join(' or ');
    default:
      return shape.t;
  }
}
