import type { Json, JsonObject } from '@baton/kernel';

/**
 * The input of graph builders: a deployment's nodes (shapes of the parsed plan, reference dsl.md 6) and its node
 * instances (shapes of REST), as the deployments service holds them now.
 */
export interface DeploymentModel {
  nodes: PlanNode[];
  nodeInstances: NodeInstance[];
  /** Scaling groups by name, as in the plan. */
  scalingGroups?: { [name: string]: ScalingGroup };
  /** Deployment modifications in state `started`. */
  modifications?: StartedModification[];
}

export interface PlanNode {
  id: string;
  type: string;
  type_hierarchy: string[];
  properties: JsonObject;
  operations: { [name: string]: PlanOperation };
  relationships: PlanRelationship[];
  plugins?: PlanPlugin[];
  host_id?: string | null;
  number_of_instances?: number;
}

export interface PlanPlugin {
  name: string;
  package_name?: string | null;
  package_version?: string | null;
}

export interface PlanOperation {
  plugin: string;
  operation: string;
  executor: string | null;
  inputs: JsonObject;
  inputs_types?: JsonObject;
  has_intrinsic_functions?: boolean;
  max_retries?: number | null;
  retry_interval?: number | null;
  timeout?: number | null;
  timeout_recoverable?: boolean | null;
}

export interface PlanRelationship {
  type: string;
  target_id: string;
  type_hierarchy?: string[];
  properties?: JsonObject;
  source_operations?: { [name: string]: PlanOperation };
  target_operations?: { [name: string]: PlanOperation };
}

export interface NodeInstance {
  id: string;
  node_id: string;
  state: string | null;
  version?: number;
  host_id?: string | null;
  relationships: { target_id: string; target_name: string; type: string }[];
  runtime_properties?: JsonObject;
  system_properties?: JsonObject;
  scaling_groups?: { id: string; name: string }[];
}

export interface ScalingGroup {
  members: string[];
  properties: {
    current_instances?: number;
    planned_instances?: number;
    default_instances?: number;
  } & JsonObject;
}

/** A modification that has begun, and is neither finished nor rolled back. */
export interface StartedModification {
  id: string;
  context?: Json;
  /** Ids of the node instances that it created, of those that it will remove, and of their direct neighbours. */
  added: string[];
  removed: string[];
  related: string[];
}
