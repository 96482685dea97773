import type { Json } from '@baton/kernel';
import type { z } from 'zod';
import type { OperationContext, OperationLogger } from '../context';
import type { InstanceFiles } from '../files/instance-files';
import type { ObjectSchema } from '../schema/describe';
import type { OperationClock } from '../tools/clock';
import type { Exec } from '../tools/exec';
import type { Http } from '../tools/http-options';

/** What the work of a step gets. */
export interface StepScope {
  /**
   * The same in each attempt of this step, and in no other step: 36 characters in the form of a UUID. Services that take a key with a
   * request carry the request out once, also when the process dies before the result of the step is stored.
   */
  readonly idempotencyKey: string;
}

/** What every operation of a declared type gets, besides the values of its node. */
export interface BaseScope {
  /** The whole context, for what is not offered here. Its logger masks like `log`. */
  readonly ctx: OperationContext;
  /** Masks secrets and sensitive values. */
  readonly log: OperationLogger;
  /** Aborted on cancel and time limit. `http` and `exec` listen to it already. */
  readonly signal: AbortSignal;
  /** Reads a secret that the plugin declares. @throws FatalError for another name, or when there is no such secret */
  secret(name: string): Promise<string>;
  /**
   * Masks a value in all later log lines and errors of the operation, as secrets are: a text of at least four characters, or all
   * texts and numbers of a list or dictionary.
   */
  hide(value: unknown): void;
  /** Runs `work` once: an attempt after the loss of a worker gets the stored result. A key may be used once in an operation. */
  step<T extends Json>(key: string, work: (step: StepScope) => Promise<T>): Promise<T>;
  /**
   * Fills the `{{ }}` templates of a text from `variables` and `ctx`, as `ctx.downloadResourceAndRender` does.
   * @throws FatalError with the line of a mistake
   */
  render(text: string, variables?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Tells people how far the operation is. */
  progress(done: number, total: number, text?: string): void;
  readonly http: Http;
  /**
   * The API of the manager, with the rights of the execution. Addresses begin below /api/v3.1, for instance `/secrets/name`.
   * @throws FatalError where no manager runs the operation
   */
  manager(): Http;
  readonly exec: Exec;
  readonly clock: OperationClock;
}

/** What an operation of a node gets. */
export interface NodeScope<P extends ObjectSchema, R extends ObjectSchema, I = Record<string, unknown>>
  extends BaseScope {
  /** Id of the node instance. */
  readonly instanceId: string;
  /** Checked, with defaults. */
  readonly properties: Readonly<z.output<P>>;
  /** May be changed; stored after the operation, and with each step. What no operation has set is undefined. */
  readonly runtime: Partial<z.output<R>>;
  readonly inputs: Readonly<I>;
  /** Files of the node instance at the manager. They go on when the operation is cancelled. */
  readonly files: InstanceFiles;
}

/** What `update` gets. */
export interface UpdateScope<P extends ObjectSchema, R extends ObjectSchema, I = Record<string, unknown>>
  extends NodeScope<P, R, I> {
  /** The properties that differ from the present ones. Without `read`: all properties. */
  readonly changes: Readonly<Partial<z.output<P>>>;
}

/** What an operation of a relationship gets. */
export interface RelationshipScope extends BaseScope {
  readonly inputs: Readonly<Record<string, Json>>;
}
