import { isAppError, isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import {
  type ConflictResolver,
  FatalError,
  type InstanceContext,
  type NodeContext,
  type RelationshipContext,
  RetryableError,
  type SideContext,
} from '@baton/plugin-sdk';
import type { OperationHost } from '../host';
import type { InstanceRecord, NodeRecord, SideRecord } from '../task';

const MAX_CONFLICTS = 20;

/** One instance during one operation. Finds changes of its runtime properties by comparison with the read ones. */
export class Instance implements InstanceContext {
  runtimeProperties: JsonObject;
  #stored: string;
  #record: InstanceRecord;
  readonly #node: NodeRecord;
  readonly #host: OperationHost;
  readonly #reread: () => Promise<InstanceRecord>;

  constructor(side: SideRecord, host: OperationHost, reread: () => Promise<InstanceRecord>) {
    this.#record = side.instance;
    this.#node = side.node;
    this.#host = host;
    this.#reread = reread;
    this.runtimeProperties = side.instance.runtime_properties;
    this.#stored = JSON.stringify(this.runtimeProperties);
  }

  get id(): string {
    return this.#record.id;
  }
  get nodeId(): string {
    return this.#record.node_id;
  }
  get index(): number {
    return this.#record.index;
  }
  get state(): string {
    return this.#record.state;
  }
  get systemProperties(): JsonObject {
    return this.#record.system_properties ?? {};
  }
  get scalingGroups(): { id: string; name: string }[] {
    return this.#record.scaling_groups ?? [];
  }
  get record(): InstanceRecord {
    return this.#record;
  }
  get relationships(): RelationshipContext[] {
    return (this.#record.relationships ?? []).map((r) => ({
      type: r.type,
      typeHierarchy: r.type_hierarchy ?? [],
      targetInstanceId: r.target_id,
      targetNodeId: r.target_name,
    }));
  }
  get isDirty(): boolean {
    return JSON.stringify(this.runtimeProperties) !== this.#stored;
  }

  async hostIp(): Promise<string> {
    const { host_id: hostId, host_ip: known } = this.#record;
    if (hostId !== this.id && typeof known === 'string' && known !== '') return known;
    const own = {
      instance: { ...this.#record, runtime_properties: this.runtimeProperties },
      node: this.#node,
    };
    const host = hostId === this.id || hostId === null ? own : await readSide(this.#host, hostId);
    const ip = hostId && host && (host.instance.runtime_properties.ip || host.node.properties.ip);
    if (typeof ip === 'string') return ip;
    throw new FatalError(
      `could not get the address of the host of ${this.id}: neither the runtime property 'ip' of ` +
        `${hostId ?? 'a host instance (it has none)'} nor the property 'ip' of its node is set`,
    );
  }

  async update(onConflict?: ConflictResolver): Promise<void> {
    for (let conflicts = 0; this.isDirty; conflicts++) {
      const text = JSON.stringify(this.runtimeProperties);
      const properties = text === undefined ? null : (JSON.parse(text) as Json);
      if (!isJsonObject(properties))
        throw new FatalError(`runtime properties of ${this.id} must be a dictionary`);
      try {
        const version = await this.#host.saveRuntimeProperties({
          instanceId: this.id,
          version: this.#record.version,
          properties,
        });
        this.#record = { ...this.#record, version };
        this.#stored = text;
      } catch (error) {
        if (!isAppError(error, 'conflict_error')) throw error;
        if (!onConflict || conflicts >= MAX_CONFLICTS) {
          throw new RetryableError(error.message, { exceptionType: 'CloudifyClientError', cause: error });
        }
        const mine = this.runtimeProperties;
        await this.#reload();
        this.runtimeProperties = onConflict(mine, this.runtimeProperties);
      }
    }
  }

  async refresh(force = false): Promise<void> {
    if (!force && this.isDirty) {
      throw new FatalError(
        `runtime properties of ${this.id} were changed but not saved: update first, or refresh with force`,
      );
    }
    await this.#reload();
  }

  async #reload(): Promise<void> {
    this.#record = await this.#reread();
    this.runtimeProperties = this.#record.runtime_properties;
    this.#stored = JSON.stringify(this.runtimeProperties);
  }
}

/** Returns the node and the record of another instance of the deployment, or null. */
async function readSide(host: OperationHost, instanceId: string): Promise<SideRecord | null> {
  const { nodes, instances } = await host.readDeployment();
  const instance = instances.find((i) => i.id === instanceId);
  const node = instance && nodes.find((n) => n.id === instance.node_id);
  return instance && node ? { instance, node } : null;
}

export function nodeContext(node: NodeRecord): NodeContext {
  return {
    id: node.id,
    name: node.id,
    type: node.type,
    typeHierarchy: node.type_hierarchy,
    properties: isJsonObject(node.properties) ? node.properties : {},
    numberOfInstances: node.number_of_instances,
  };
}

export interface Side extends SideContext {
  readonly instance: Instance;
  readonly record: SideRecord;
}
