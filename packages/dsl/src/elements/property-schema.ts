import type { Entry, MapNode, Node } from '../yaml/node';

/** Declaration of a property after inheritance. */
export interface PropertySchema {
  type: string | null;
  /** Includes the defaults of data types; undefined when there is none. */
  default: Node | undefined;
  required: boolean;
  node: MapNode;
  /** Set when the default is known to be complete: then it is used and shared as it is. */
  isDefaultComplete?: boolean;
}

export type PropertySchemas = ReadonlyMap<string, PropertySchema>;

export const noProperties: PropertySchemas = new Map();

export interface DataType {
  name: string;
  properties: PropertySchemas;
  entry: Entry;
}

/** The data types of a document for properties: properties and data types depend on each other. */
export interface DataTypeLookup {
  /** Whether the document declares the type; false for primitive types. */
  has(name: string): boolean;
  /** Undefined when there is none, or when it contains itself. */
  get(name: string): DataType | undefined;
  names(): Iterable<string>;
}
