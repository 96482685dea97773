import type { JsonObject } from '@baton/kernel';
import { type ContextType, FatalError, type OperationRetry } from '@baton/plugin-sdk';
import type { AgentScript, OperationHost, PythonPlugin } from '../host';
import type { InstanceRecord, OpenedModel, OperationTask, SideRecord } from '../task';
import { Instance, nodeContext, type Side } from './instance';

interface Opened {
  model: OpenedModel;
  self: Side | null;
  related: Side | null;
}

/**
 * The data that one run of an operation has read and changed. The model is read when first needed, so an operation that
 * only computes costs no rpc.
 */
export class OperationSession {
  /** Set by ctx.operation.retry: the run counts as a retry, regardless of its return value. */
  retryRequest: OperationRetry | null = null;
  /** The Python plugin that contains the function. */
  plugin: PythonPlugin | null = null;
  /** Keys of steps whose work is under way. */
  readonly openSteps = new Set<string>();
  /** The install script that ctx.agent has made in this run. */
  agentScript: Promise<AgentScript> | null = null;
  #opened: Promise<Opened> | null = null;
  #loaded: Opened | null = null;

  constructor(
    readonly task: OperationTask,
    readonly host: OperationHost,
    readonly signal: AbortSignal,
  ) {}

  get type(): ContextType {
    if (this.task.related) return 'relationship-instance';
    return this.task.self ? 'node-instance' : 'deployment';
  }

  /** Whether the operation has read the model. */
  get hasOpened(): boolean {
    return this.#loaded !== null;
  }

  open(): Promise<Opened> {
    this.#opened ??= this.#read().catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  /** The inputs, evaluated when they hold functions. */
  async inputs(): Promise<JsonObject> {
    return this.task.hasFunctions ? (await this.open()).model.inputs : (this.task.inputs as JsonObject);
  }

  /** The instance for which the operation runs. @throws FatalError in other kinds of operations. */
  async own(): Promise<Side> {
    const side = this.type === 'node-instance' ? (await this.open()).self : null;
    if (side) return side;
    throw new FatalError(
      `ctx.node/ctx.instance can only be used in a node-instance context but used in a ${this.type} context.`,
    );
  }

  /** A side of the relationship. @throws FatalError in other kinds of operations. */
  async side(which: 'source' | 'target'): Promise<Side> {
    const { related } = this.task;
    if (related) {
      const { self, related: other } = await this.open();
      const side = related.isTarget === (which === 'source') ? self : other;
      if (side) return side;
    }
    throw new FatalError(
      `ctx.source/ctx.target can only be used in a relationship-instance context but used in a ${this.type} context.`,
    );
  }

  /** Stores the changed runtime properties, if the operation opened the model at all. */
  async save(): Promise<void> {
    if (!this.#loaded) return;
    await this.#loaded.self?.instance.update();
    await this.#loaded.related?.instance.update();
  }

  async #read(): Promise<Opened> {
    const model = await this.host.open();
    const opened = { model, self: this.#side(model, 'self'), related: this.#side(model, 'related') };
    this.#loaded = opened;
    return opened;
  }

  #side(model: OpenedModel, which: 'self' | 'related'): Side | null {
    const record: SideRecord | null = model[which];
    if (!record) return null;
    const reread = async (): Promise<InstanceRecord> => {
      const again = (await this.host.open())[which];
      if (!again) throw new FatalError(`node instance ${record.instance.id} does not exist any more`);
      return again.instance;
    };
    return { record, node: nodeContext(record.node), instance: new Instance(record, this.host, reread) };
  }
}
