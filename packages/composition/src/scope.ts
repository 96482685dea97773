import type { Json, JsonObject } from '@baton/kernel';
import type { InstanceContext, OperationContext } from '@baton/plugin-sdk';
import type { CompositionDeps } from './deps';
import type { Manager } from './manager';

/** One run of an operation: its inputs and context, and the manager that it works on. */
export interface Scope {
  readonly deps: CompositionDeps;
  readonly ctx: OperationContext;
  readonly inputs: Readonly<Record<string, Json>>;
  /** Its runtime properties hold the data for the next run. */
  readonly instance: InstanceContext;
  readonly properties: Readonly<JsonObject>;
  /** This manager, or the one that the node's `client` names. */
  readonly manager: Manager;
  /** This manager, with the rights of the execution. */
  readonly own: Manager;
}
