import type { Json, JsonObject } from '@baton/kernel';
import type { PlanGroup, PlanPolicy, PlanScalingGroup } from '../elements/groups';
import type { PlanNode } from '../elements/node-templates';
import type { PlanPlugin } from '../elements/plugins';
import type { PlanVersion } from '../elements/version';
import type { PlanWorkflow } from '../elements/workflows';

export type { PlanNode } from '../elements/node-templates';
export type { PlanRelationship } from '../elements/relationships';

export type { PlanGroup, PlanPlugin, PlanPolicy, PlanScalingGroup, PlanVersion, PlanWorkflow };

/**
 * The parsed plan (reference 6): plain JSON, always with all these keys. Nodes share parts, so a plan is never changed
 * in place.
 */
export interface ParsedPlan {
  inputs: JsonObject;
  outputs: JsonObject;
  nodes: PlanNode[];
  scaling_groups: Record<string, PlanScalingGroup>;
  workflows: Record<string, PlanWorkflow>;
  policy_types: JsonObject;
  policy_triggers: JsonObject;
  description: string | null;
  groups: Record<string, PlanGroup>;
  capabilities: JsonObject;
  resource_tags: JsonObject;
  labels: JsonObject;
  requirements: { parent_capabilities: Json[]; secrets: Json[] };
  metadata: JsonObject | null;
  relationships: JsonObject;
  policies: Record<string, PlanPolicy>;
  deployment_plugins_to_install: PlanPlugin[];
  workflow_plugins_to_install: PlanPlugin[];
  host_agent_plugins_to_install: PlanPlugin[];
  version: PlanVersion;
  imported_blueprints: string[];
  namespaces_mapping: Record<string, string>;
  data_types: JsonObject;
  blueprint_labels: JsonObject;
  deployment_settings: JsonObject;
}

/** An instance of a node (reference 7.1). */
export interface NodeInstance {
  name: string;
  node_id: string;
  id: string;
  host_id?: string;
  /** Innermost first. */
  scaling_groups?: { name: string; id: string }[];
  relationships: InstanceRelationship[];
}

export interface InstanceRelationship {
  type: string;
  target_name: string;
  target_id: string;
}

/** A use of a capability of another deployment (reference 7, step 6). */
export interface InterDeploymentFunction {
  function_identifier: string;
  /** The literal id (null when it is not known yet) and the first argument of the function. */
  target_deployment: [string | null, Json];
  context: { self?: string; source?: string; target?: string };
}

/** The plan of a deployment: the parsed plan with input values, evaluated functions and instances. */
export interface DeploymentPlan extends ParsedPlan {
  node_instances: NodeInstance[];
  inter_deployment_functions: InterDeploymentFunction[];
}
