import type { ObjectSchema } from '../schema/describe';
import type { Work } from './node-type';
import type { RelationshipScope } from './scope';

export const RELATIONSHIP_OPERATIONS = ['preconfigure', 'postconfigure', 'establish', 'unlink'] as const;
export type RelationshipOperation = (typeof RELATIONSHIP_OPERATIONS)[number];

/** Operations of one end of a relationship. `ctx.source()` and `ctx.target()` give both ends. */
export type SideOperations = Readonly<Partial<Record<RelationshipOperation, Work<RelationshipScope>>>>;

/** Something for each operation of both ends. */
export type OfSides<T> = {
  readonly [side in 'source' | 'target']?: Readonly<Partial<Record<RelationshipOperation, T>>>;
};

/** A relationship type as its author writes it. */
export interface RelationshipType {
  /** Parent type. Default: cloudify.relationships.connected_to. */
  derivedFrom?: string;
  aliases?: readonly string[];
  description?: string;
  properties?: ObjectSchema;
  source?: SideOperations;
  target?: SideOperations;
  /** Inputs of operations: checked, with defaults. Others are passed as they are. */
  inputs?: OfSides<ObjectSchema>;
  /** Mappings that blueprints know already: the plugin's name or one of its aliases, a dot, and the mapping. */
  mappings?: OfSides<string>;
  /** Operations that may run again after their worker was lost in the middle, for instance `source.establish`. */
  resumable?: readonly `${'source' | 'target'}.${RelationshipOperation}`[];
}
