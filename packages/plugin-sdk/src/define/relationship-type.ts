import type { ObjectSchema } from '../schema/describe';
import type { Work } from './node-type';
import type { RelationshipScope } from './scope';

export const RELATIONSHIP_OPERATIONS = ['preconfigure', 'postconfigure', 'establish', 'unlink'] as const;
export type RelationshipOperation = (typeof RELATIONSHIP_OPERATIONS)[number];

/** Operations of one end of a relationship. `ctx.source()` and `ctx.target()` give both ends. */
export type SideOperations = Readonly<Partial<Record<RelationshipOperation, Work<RelationshipScope>>>>;

/** A relationship type as its author writes it. */
export interface RelationshipType {
  /** Parent type. Default: cloudify.relationships.connected_to. */
  derivedFrom?: string;
  aliases?: readonly string[];
  description?: string;
  properties?: ObjectSchema;
  source?: SideOperations;
  target?: SideOperations;
  /** Inputs of operations, for instance of `source.establish`: checked, with defaults. Others are passed as they are. */
  inputs?: Readonly<Record<string, ObjectSchema>>;
  /** Mappings that blueprints know already, for instance of `source.establish`. See `mappings` of node types. */
  mappings?: Readonly<Record<string, string>>;
}
