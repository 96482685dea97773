import type { JsonObject } from '@baton/kernel';
import type { NodeInstance, PlanNode, PlanOperation } from '../model';
import type { OperationPayload } from '../operation';
import type { LifecycleSubject, OperationTemplate, RelationshipTemplate } from '../subject';
import type { WorkflowConfig } from '../workflow';
import { type InstanceRelationship, installMethodOf, isHostNode, type ModelIndex } from './model-index';
import { routeOf } from './route';
import { RELATIONSHIP_LIFECYCLE } from './steps';

/** The settings that operations are made with. */
export type OperationConfig = Pick<WorkflowConfig, 'tenant' | 'taskRetries' | 'taskRetryIntervalMs'>;

const RELATIONSHIP_STEPS = ['preconfigure', 'postconfigure', 'establish', 'unlink', 'update', 'check_drift'];

/** Reads from the model the data for the lifecycle of `instance`. */
export function readSubject(
  ix: ModelIndex,
  config: OperationConfig,
  instance: NodeInstance,
): LifecycleSubject {
  const node = ix.nodes.get(instance.node_id);
  const operations: LifecycleSubject['operations'] = {};
  for (const name in node?.operations ?? {}) {
    if (!name.startsWith('cloudify.interfaces.')) continue;
    const template = instanceOperation(ix, config, instance, name);
    if (template) operations[name] = template;
  }
  return {
    instanceId: instance.id,
    nodeId: instance.node_id,
    state: instance.state,
    isHost: isHostNode(node),
    installMethod: isHostNode(node) ? installMethodOf(node) : 'none',
    operations,
    relationships: ix.relationshipsOf(instance).map((r) => readRelationship(ix, config, r)),
  };
}

/** Returns the operation `name` of an instance's node, or null when it is not implemented. `kwargs` replace inputs. */
export function instanceOperation(
  ix: ModelIndex,
  config: OperationConfig,
  instance: NodeInstance,
  name: string,
  kwargs: JsonObject = {},
): OperationTemplate | null {
  const node = ix.nodes.get(instance.node_id);
  const op = node && Object.hasOwn(node.operations, name) ? node.operations[name]! : null;
  if (!node || !op || !isImplemented(op)) return null;
  return template(ix, config, name, op, instance, [node], null, kwargs);
}

function isImplemented(op: PlanOperation): boolean {
  return op.operation !== '';
}

export function readRelationship(
  ix: ModelIndex,
  config: OperationConfig,
  r: InstanceRelationship,
): RelationshipTemplate {
  const operations: RelationshipTemplate['operations'] = {};
  for (const step of RELATIONSHIP_STEPS) {
    const source = relationshipOperation(ix, config, r, 'source', step);
    const target = relationshipOperation(ix, config, r, 'target', step);
    if (source || target) operations[step] = { ...(source && { source }), ...(target && { target }) };
  }
  return { type: r.plan.type, targetId: r.target.id, targetNode: r.target.node_id, operations };
}

function relationshipOperation(
  ix: ModelIndex,
  config: OperationConfig,
  r: InstanceRelationship,
  side: 'source' | 'target',
  step: string,
): OperationTemplate | null {
  return relationshipOperationNamed(ix, config, r, side, `${RELATIONSHIP_LIFECYCLE}.${step}`);
}

/** Returns the operation with the full name `name` on one side of a relationship, or null when it is not implemented. */
export function relationshipOperationNamed(
  ix: ModelIndex,
  config: OperationConfig,
  r: InstanceRelationship,
  side: 'source' | 'target',
  name: string,
  kwargs: JsonObject = {},
): OperationTemplate | null {
  const op = (side === 'source' ? r.plan.source_operations : r.plan.target_operations)?.[name];
  if (!op || !isImplemented(op)) return null;
  const relationship: OperationPayload['relationship'] = {
    side,
    type: r.plan.type,
    sourceId: r.source.id,
    sourceNode: r.source.node_id,
    targetId: r.target.id,
    targetNode: r.target.node_id,
  };
  const nodes = [r.source, r.target].flatMap((i) => ix.nodes.get(i.node_id) ?? []);
  return template(ix, config, name, op, side === 'source' ? r.source : r.target, nodes, relationship, kwargs);
}

function template(
  ix: ModelIndex,
  config: OperationConfig,
  name: string,
  op: PlanOperation,
  instance: NodeInstance,
  nodes: PlanNode[],
  relationship: OperationPayload['relationship'],
  kwargs: JsonObject,
): OperationTemplate {
  const plugin = nodes.flatMap((n) => n.plugins ?? []).find((p) => p.name === op.plugin);
  const intervalMs = op.retry_interval == null ? config.taskRetryIntervalMs : op.retry_interval * 1000;
  return {
    totalRetries: op.max_retries ?? config.taskRetries,
    retryIntervalMs: intervalMs,
    payload: {
      operation: name,
      implementation: op.operation,
      plugin: {
        name: op.plugin,
        packageName: plugin?.package_name ?? null,
        packageVersion: plugin?.package_version ?? null,
      },
      ...routeOf(ix, config.tenant, op, instance),
      inputs: Object.keys(kwargs).length === 0 ? op.inputs : mergeInputs(op.inputs, kwargs),
      inputsTypes: op.inputs_types ?? null,
      hasIntrinsicFunctions: op.has_intrinsic_functions ?? false,
      nodeInstanceId: instance.id,
      nodeId: instance.node_id,
      hostId: instance.host_id ?? null,
      relationship,
      timeout: op.timeout || null,
      timeoutRecoverable: op.timeout_recoverable ?? false,
    },
  };
}

/** Merges `over` into `inputs`; objects inside objects are merged key by key. */
function mergeInputs(inputs: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...inputs };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isPlain(below) && isPlain(value) ? mergeInputs(below, value) : value;
  }
  return merged;
}

function isPlain(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
