import type { Entry, MapNode, Node } from '../yaml/node';

/** A property's declaration after inheritance. */
export interface PropertySchema {
  type: string | null;
  /** With the defaults of data types written out; undefined when there is none. */
  default: Node | undefined;
  required: boolean;
  node: MapNode;
  /** Set once the default was found to lack nothing: then it is used as it is, and shared. */
  isDefaultComplete?: boolean;
}

export type PropertySchemas = ReadonlyMap<string, PropertySchema>;

export const noProperties: PropertySchemas = new Map();

export interface DataType {
  name: string;
  properties: PropertySchemas;
  entry: Entry;
}

/** The data types of a document, as far as properties need them: properties and data types need each other. */
export interface DataTypeLookup {
  /** Whether the document declares the type; a primitive type is none. */
  has(name: string): boolean;
  /** Undefined when there is none, or when it holds itself. */
  get(name: string): DataType | undefined;
  names(): Iterable<string>;
}
