import type { Json } from '@baton/kernel';
import type { z } from 'zod';
import type { ObjectSchema } from '../schema/describe';
import type { NodeScope, UpdateScope } from './scope';

/** An operation; its returned value (JSON) becomes the result of the task. */
export type Work<Scope> = (scope: Scope) => unknown;

/** The operations of the lifecycle that an author may write, in the order of an installation and its end. */
export const LIFECYCLE_OPERATIONS = [
  ...(['precreate', 'create', 'configure', 'start', 'poststart'] as const),
  ...(['prestop', 'stop', 'delete', 'postdelete'] as const),
] as const;
export type LifecycleOperation = (typeof LIFECYCLE_OPERATIONS)[number];

/** Schemas of inputs of operations of the lifecycle, by operation. */
export type LifecycleInputs = { readonly [name in LifecycleOperation | 'update']?: ObjectSchema };

/** Values as the outside world has them now, by the names of properties and runtime properties. */
export type Present = Readonly<Record<string, unknown>>;

/** A value that differs from the present one. */
export interface Difference {
  /** Name of a property, or a place in what the plugin made. */
  path: string;
  stored: Json;
  present: Json;
}

type Named<O> = keyof O & string;

/** A node type as its author writes it. */
export interface NodeTypeSpec<
  P extends ObjectSchema,
  R extends ObjectSchema,
  I extends Record<string, unknown>,
  L = LifecycleInputs,
> {
  /** Parent type. Default: cloudify.nodes.Root. */
  derivedFrom?: string;
  /** Other names of the type, for blueprints that use them. */
  aliases?: readonly string[];
  description?: string;
  properties?: P;
  /** Runtime properties that the operations set. */
  runtime?: R;
  precreate?: Work<NodeScope<P, R, LifecycleValues<L, 'precreate'>>>;
  create?: Work<NodeScope<P, R, LifecycleValues<L, 'create'>>>;
  configure?: Work<NodeScope<P, R, LifecycleValues<L, 'configure'>>>;
  start?: Work<NodeScope<P, R, LifecycleValues<L, 'start'>>>;
  poststart?: Work<NodeScope<P, R, LifecycleValues<L, 'poststart'>>>;
  prestop?: Work<NodeScope<P, R, LifecycleValues<L, 'prestop'>>>;
  stop?: Work<NodeScope<P, R, LifecycleValues<L, 'stop'>>>;
  delete?: Work<NodeScope<P, R, LifecycleValues<L, 'delete'>>>;
  postdelete?: Work<NodeScope<P, R, LifecycleValues<L, 'postdelete'>>>;
  /** Inputs of operations of the lifecycle, by operation: checked, with defaults. Others are passed as they are. */
  inputs?: L;
  /**
   * Mappings that blueprints know already, by operation: the plugin's name or one of its aliases, a dot, and the mapping. Operations
   * of the type may share one when they are the same function. Also for further operations and for derived ones.
   */
  mappings?: Readonly<Record<string, string>>;
  /** Brings a changed node up to date in place. Without it a changed node is installed again. */
  update?: Work<UpdateScope<P, R, LifecycleValues<L, 'update'>>>;
  /** Reads the present values; null: the thing is gone. Gives check_status, check_drift, heal and pull. Must change nothing. */
  read?(scope: NodeScope<P, R>): Promise<Present | null> | Present | null;
  /** The properties that must be as declared. */
  compare?: readonly Named<z.output<P>>[];
  /**
   * Finds the differences itself, instead of `compare`: by a dry run of a tool for instance. Gives check_drift and heal. Null or an empty
   * list: nothing differs. Must change nothing. `update` gets all properties then.
   */
  drift?(scope: NodeScope<P, R>): Promise<readonly Difference[] | null> | readonly Difference[] | null;
  /** Further operations, by name. */
  operations?: {
    readonly [K in keyof I]: {
      /** Interface in blueprints. Default: the name of the plugin. */
      interface?: string;
      /** Further interfaces in which the operation stands under the same name. */
      places?: readonly { interface: string }[];
      /** z.object(...); without it the operation gets its inputs unchecked. */
      inputs?: I[K];
      run: Work<NodeScope<P, R, InputsOf<I[K]>>>;
    };
  };
  /**
   * Operations that may run again after their worker was lost in the middle: all of their effects stand in steps, or can be
   * repeated. Others fail in that case, and a person decides. Operations that only read are always resumable.
   */
  resumable?: readonly (LifecycleOperation | 'update' | Named<I>)[];
}

type InputsOf<S> = S extends ObjectSchema ? z.output<S> : Record<string, Json>;

/** Inputs that the schema does not name are there too, unchecked. */
type LifecycleValues<L, K extends string> = L extends { readonly [name in K]: infer S extends ObjectSchema }
  ? z.output<S> & Readonly<Record<string, unknown>>
  : Record<string, Json>;

/** A node type without the types of its values. */
export type AnyNodeType = NodeTypeSpec<ObjectSchema, ObjectSchema, Record<string, ObjectSchema>>;

/** The schema of a type that declares none. */
export type NoValues = z.ZodObject<Record<never, never>>;

/** Declares a node type. The types of properties, runtime properties and inputs follow from the schemas. */
export function nodeType<
  P extends ObjectSchema = NoValues,
  R extends ObjectSchema = NoValues,
  I extends Record<string, unknown> = Record<never, never>,
  L extends LifecycleInputs = Record<never, never>,
>(spec: NodeTypeSpec<P, R, I, L>): AnyNodeType {
  return spec as unknown as AnyNodeType;
}
