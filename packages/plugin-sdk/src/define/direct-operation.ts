import type { Json, JsonObject } from '@baton/kernel';
import type { z } from 'zod';
import type { ObjectSchema } from '../schema/describe';
import type { NoValues, Work } from './node-type';
import type { BaseScope } from './scope';

/** What an operation gets that blueprints name directly, on nodes of any type and on relationships. */
export interface DirectScope<I = Record<string, Json>> extends BaseScope {
  readonly inputs: Readonly<I>;
  /** The node; null in an operation of a relationship or of a deployment. `ctx.source()` and `ctx.target()` give both ends. */
  readonly node: DirectNode | null;
}

/** A node of any type. */
export interface DirectNode {
  readonly instanceId: string;
  /** Properties as they are: another plugin declares their type. */
  readonly properties: Readonly<JsonObject>;
  /** May be changed; stored after the operation, and with each step. */
  readonly runtime: Record<string, unknown>;
}

/** An operation that blueprints name directly, by a mapping. */
export interface DirectOperation<I extends ObjectSchema = ObjectSchema> {
  /** Checked, with defaults. Others are passed as they are. */
  inputs?: I;
  /** Whether it may run again after its worker was lost in the middle. */
  isResumable?: boolean;
  run: Work<DirectScope<z.output<I> & Readonly<Record<string, unknown>>>>;
}

/** Declares an operation that blueprints name directly. The types of the inputs follow from the schema. */
export const directOperation = <I extends ObjectSchema = NoValues>(
  spec: DirectOperation<I>,
): DirectOperation => spec as unknown as DirectOperation;
