import type { Json, JsonObject } from '@baton/kernel';

type Awaitable<T> = T | Promise<T>;

export interface StoredNode {
  id: string;
  properties?: JsonObject;
  relationships?: readonly { target_id: string; type_hierarchy: readonly string[] }[];
}

export interface StoredInstance {
  id: string;
  node_id: string;
  runtime_properties?: JsonObject | null;
  relationships?: readonly { target_name: string; target_id: string }[];
  scaling_groups?: readonly { name: string; id: string }[];
  /** Position among the instances of the node. */
  index?: number;
}

/** Data source of functions of one deployment at run time. `null` (for inputs: undefined) means that the object does not exist. */
export interface FunctionStorage {
  getInput(name: string): Awaitable<Json | undefined>;
  getNode(nodeId: string): Awaitable<StoredNode | null>;
  getNodeInstance(instanceId: string): Awaitable<StoredInstance | null>;
  /** All instances of one node. */
  getNodeInstances(nodeId: string): Awaitable<readonly StoredInstance[]>;
  getSecret(name: string): Awaitable<string | null>;
  /** Value of the capability, evaluated in the deployment that declares it. */
  getCapability(deploymentId: string, capability: string): Awaitable<{ value: Json } | null>;
  /** For the rule see `groupCapability`. */
  getGroupCapability(groupId: string, capability: string | string[], path: Json[]): Awaitable<Json>;
  /** Values of a label of this deployment, by creation time, then value. */
  getLabel(key: string): Awaitable<readonly string[] | null>;
  getSys(entity: string, property: string): Awaitable<Json>;
  getConsumers(what: 'ids' | 'names' | 'count'): Awaitable<Json>;
}

/** Ids of the instances that SELF, SOURCE and TARGET mean. */
export interface FunctionContext {
  self?: string | null;
  source?: string | null;
  target?: string | null;
}
