import type { ObjectSchema } from '../schema/describe';
import type { Work } from './node-type';
import type { MappedScope } from './scope';

/**
 * An operation with a mapping of its own, that blueprints name on nodes and relationships of any type. `ctx.node()`, or
 * `ctx.source()` and `ctx.target()`, give the place where it runs.
 */
export interface MappedOperation {
  /** Checked, with defaults. Other inputs are passed as they are. */
  inputs?: ObjectSchema;
  /** It may run again after its worker was lost in the middle. */
  resumable?: boolean;
  run: Work<MappedScope>;
}
