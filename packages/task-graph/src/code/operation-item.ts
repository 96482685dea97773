import { err, type JsonObject, ok, type Result } from '@baton/kernel';
import type { BuildContext } from '../build/lifecycle-graph';
import { instanceOperation, relationshipOperationNamed } from '../build/read-subject';
import type { NodeInstance } from '../model';
import type { OperationTemplate } from '../subject';
import type { TaskPolicy, TaskSpec } from '../task';

export interface CompileError {
  type: string;
  message: string;
}

/** An operation of an instance, or of one side of its relationship to `targetId`. */
export interface OperationItem {
  item: 'operation';
  instanceId: string;
  operation: string;
  kwargs: JsonObject;
  mayOverride: boolean;
  relationship?: { targetId: string; side: 'source' | 'target' } | null;
}

type Body = Pick<Extract<TaskSpec, { kind: 'operation' }>, 'kind' | 'type' | 'name' | 'payload' | 'policy'>;
type Nop = Pick<
  Extract<TaskSpec, { kind: 'local' | 'nop' }>,
  'kind' | 'type' | 'name' | 'payload' | 'policy'
>;

/** Returns the task of an operation; a task that does nothing where the operation is not implemented. */
export function operationOf(context: BuildContext, item: OperationItem): Result<Body | Nop, CompileError> {
  const instance = requireInstance(context, item.instanceId);
  if (!instance.ok) return instance;
  const declared = templateOf(context, item, instance.value, {});
  if (!declared.ok) return declared;
  if (declared.value === null) return ok(nothing(item.operation));
  const inputs = declared.value.payload.inputs;
  const twice = item.mayOverride
    ? undefined
    : Object.keys(item.kwargs).find((key) => Object.hasOwn(inputs, key));
  if (twice !== undefined) {
    const message =
      `Duplicate definition of ${twice} in operation properties and in kwargs. ` +
      `To allow redefinition, pass 'allow_kwargs_override'`;
    return err({ type: 'RuntimeError', message });
  }
  const template = templateOf(context, item, instance.value, item.kwargs);
  if (!template.ok) return template;
  const { payload, totalRetries, retryIntervalMs } = template.value!;
  return ok({
    kind: 'operation',
    type: context.isDryRun ? 'DryRunLocalWorkflowTask' : 'RemoteWorkflowTask',
    name: payload.implementation,
    payload,
    policy: { totalRetries, retryIntervalMs, sendTaskEvents: true, onSuccess: null, onFailure: null },
  });
}

function templateOf(
  { ix, config }: BuildContext,
  item: OperationItem,
  instance: NodeInstance,
  kwargs: JsonObject,
): Result<OperationTemplate | null, CompileError> {
  const { relationship, operation } = item;
  if (!relationship) return ok(instanceOperation(ix, config, instance, operation, kwargs));
  const found = ix.relationshipsOf(instance).find((r) => r.target.id === relationship.targetId);
  if (!found) {
    const message = `${instance.id} has no relationship to ${relationship.targetId}`;
    return err({ type: 'ValueError', message });
  }
  return ok(relationshipOperationNamed(ix, config, found, relationship.side, operation, kwargs));
}

const QUIET: TaskPolicy = {
  totalRetries: 0,
  retryIntervalMs: 0,
  onSuccess: null,
  onFailure: null,
  sendTaskEvents: false,
};

/** Returns a task that does nothing except keep its position in the order. */
export function nothing(name: string): Nop {
  return { kind: 'nop', type: 'NOPLocalWorkflowTask', name, payload: {}, policy: QUIET };
}

export function requireInstance({ ix }: BuildContext, id: string): Result<NodeInstance, CompileError> {
  const instance = ix.instances.get(id);
  if (instance) return ok(instance);
  return err({ type: 'ValueError', message: `No node instance with id \`${id}\` was found` });
}
