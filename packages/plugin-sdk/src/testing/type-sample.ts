import type { Json, JsonObject } from '@baton/kernel';
import type { TestNode } from './test-node';

/** How the operations of a type are tried out. */
export interface TypeSample {
  /** Valid properties: for a blueprint, and for the node of `make` unless it takes others. */
  properties?: JsonObject;
  /** Makes a fresh node with these properties, and fresh fakes of the outside. */
  make(properties: JsonObject): TestNode | Promise<TestNode>;
  /**
   * Operations in the order in which they run, for instance `['create', 'start', 'check_drift', 'stop', 'delete']`. Default: those of
   * the lifecycle that the type has.
   */
  order?: readonly string[];
  /** Inputs by operation. */
  inputs?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** What the operations did outside; an entry that is there twice is an effect that happened twice. */
  effects?(node: TestNode): readonly string[];
  /** Values that must not be shown, besides sensitive properties: those of secrets for instance. */
  hidden?: readonly string[];
}

/** What was looked at: `type.operation` for operations. */
export interface CheckedPlugin {
  types: string[];
  /** Ran without showing a hidden value. */
  ran: string[];
  /** Survived a crash behind each step, or a second run when they have no steps. */
  survived: string[];
  /** Types without a sample. */
  withoutSample: string[];
}
