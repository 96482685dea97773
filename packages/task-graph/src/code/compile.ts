import { err, type JsonObject, ok, type Result } from '@baton/kernel';
import { type BuildContext, lifecycleGraph } from '../build/lifecycle-graph';
import { indexModel } from '../build/model-index';
import { rollbackSteps } from '../build/rollback-steps';
import type { DeploymentModel, NodeInstance } from '../model';
import type { GraphSpec, TaskPolicy, TaskSpec } from '../task';
import type { WorkflowConfig } from '../workflow';
import { circleOf } from './circles';
import {
  type CompileError,
  nothing,
  type OperationItem,
  operationOf,
  requireInstance,
} from './operation-item';

/** The code of a workflow: the data with which a worker starts it. */
export interface WorkflowCode {
  name: string;
  /** Path after the plugin's alias; for scripts `script_runner.tasks.execute_workflow`. */
  mapping: string;
  plugin: { name: string; packageName: string | null; packageVersion: string | null };
  parameters: JsonObject;
}

/**
 * One piece of work that the code submits. `key` is unique in the execution, and the same in each run of the code: work
 * with a known key is not repeated. `deps` and `subgraph` are keys of this or an earlier submission.
 */
export type CodeItem = {
  key: string;
  deps?: string[];
  subgraph?: string | null;
  /** -1 = unlimited; absent: the value of the operation or of the configuration. */
  totalRetries?: number;
  retryIntervalMs?: number;
  sendTaskEvents?: boolean;
  /** Whether the code decides what follows a failure, a success. */
  asksOnFailure?: boolean;
  asksOnSuccess?: boolean;
} & (
  | OperationItem
  | { item: 'state'; instanceId: string; state: string }
  | { item: 'node-event'; instanceId: string; text: string }
  | { item: 'event'; text: string; eventType: string }
  /** A step that the code itself carries out when it is ready. */
  | { item: 'step'; name: string }
  | { item: 'subgraph'; name: string }
  /** The whole lifecycle of instances, as in install, uninstall and rollback: tasks with keys `<key>/0`, `<key>/1`, ... */
  | {
      item: 'lifecycle';
      direction: 'install' | 'uninstall' | 'rollback';
      instanceIds: string[];
      relatedIds: string[];
      isIgnoringFailure: boolean;
    }
);

const CODE_POLICY: TaskPolicy = {
  totalRetries: 0,
  retryIntervalMs: 0,
  onSuccess: null,
  onFailure: null,
  sendTaskEvents: false,
};

/** Makes the graph of a workflow that is code: one task, which submits the others (`add` of Happening). */
export function codeGraph(
  code: WorkflowCode,
  options: { waitAfterFailMs: number; isDryRun: boolean },
): GraphSpec {
  const task: TaskSpec = {
    idx: 0,
    kind: 'operation',
    type: 'LocalWorkflowTask',
    name: code.mapping,
    deps: [],
    subgraph: null,
    retryOf: null,
    policy: CODE_POLICY,
    payload: {
      operation: '',
      implementation: code.mapping,
      plugin: code.plugin,
      executor: 'central_deployment_agent',
      inputs: code.parameters,
      inputsTypes: null,
      hasIntrinsicFunctions: false,
      nodeInstanceId: '',
      nodeId: '',
      hostId: null,
      relationship: null,
      timeout: null,
      timeoutRecoverable: false,
      isWorkflowCode: true,
    },
  };
  return {
    name: code.name,
    tasks: [task],
    waitAfterFailMs: options.waitAfterFailMs,
    dryRun: options.isDryRun,
  };
}

/**
 * Compiles submitted items to tasks, numbered from `base`. `known`: idx by key of earlier submissions. The error is one
 * of the code: an unknown instance, key or operation input, tasks that wait for each other.
 */
export function compileItems(
  source: { model: DeploymentModel; config: WorkflowConfig; isDryRun: boolean },
  items: readonly CodeItem[],
  base: number,
  known: ReadonlyMap<string, number>,
): Result<TaskSpec[], CompileError> {
  const context: BuildContext = { ix: indexModel(source.model), ...source };
  const places = new Map(known);
  const tasks: TaskSpec[] = [];
  for (const item of items) {
    const made = compileItem(context, item, base + tasks.length, places);
    if (!made.ok) return made;
    for (const task of made.value) places.set(task.key ?? '', task.idx);
    tasks.push(...made.value);
  }
  const circle = circleOf(tasks);
  if (circle) return err({ type: 'RuntimeError', message: waitingForEachOther(circle) });
  return ok(tasks);
}

function waitingForEachOther(names: readonly string[]): string {
  const told = names.length > 20 ? [...names.slice(0, 10), '...', ...names.slice(-9)] : names;
  return `Tasks of the graph wait for each other: ${told.join(' -> ')}`;
}

function compileItem(
  context: BuildContext,
  item: CodeItem,
  idx: number,
  places: ReadonlyMap<string, number>,
): Result<TaskSpec[], CompileError> {
  const deps: number[] = [];
  for (const key of [...(item.deps ?? []), ...(item.subgraph ? [item.subgraph] : [])]) {
    const at = places.get(key);
    if (at === undefined)
      return err({ type: 'RuntimeError', message: `There is no task with the key ${key}` });
    deps.push(at);
  }
  const subgraph = item.subgraph ? deps.pop()! : null;
  if (item.item === 'lifecycle') return compileLifecycle(context, item, idx, { deps, subgraph });
  const body = bodyOf(context, item);
  if (!body.ok) return body;
  const common = { idx, deps, subgraph, retryOf: null, key: item.key };
  return ok([{ ...common, ...body.value, policy: policyOf(item, body.value.policy) } as TaskSpec]);
}

type Distribute<T> = T extends TaskSpec ? Omit<T, 'idx' | 'deps' | 'subgraph' | 'retryOf' | 'key'> : never;
type Body = Distribute<TaskSpec>;

function bodyOf(
  context: BuildContext,
  item: Exclude<CodeItem, { item: 'lifecycle' }>,
): Result<Body, CompileError> {
  const policy = CODE_POLICY;
  switch (item.item) {
    case 'operation':
      return operationOf(context, item);
    case 'event':
      return ok({
        kind: 'workflow-event',
        type: 'SendWorkflowEventTask',
        name: 'send_workflow_event',
        policy,
        payload: { event: item.text, eventType: item.eventType },
      });
    case 'step':
      return ok({
        kind: 'local',
        type: 'LocalWorkflowTask',
        name: item.name,
        policy: {
          ...policy,
          sendTaskEvents: true,
          totalRetries: context.config.taskRetries,
          retryIntervalMs: context.config.taskRetryIntervalMs,
        },
        payload: { byCode: true },
      });
    case 'subgraph':
      return ok({
        kind: 'subgraph',
        type: 'SubgraphTask',
        name: item.name,
        policy: { ...policy, sendTaskEvents: true },
        payload: { nodeInstanceId: null, nodeId: null },
      });
    default: {
      const instance = requireInstance(context, item.instanceId);
      if (!instance.ok) return instance;
      const of = { nodeInstanceId: instance.value.id, nodeId: instance.value.node_id };
      if (item.item === 'state' && context.isDryRun) return ok(nothing('set_node_instance_state'));
      return item.item === 'state'
        ? ok({
            kind: 'set-state',
            type: 'SetNodeInstanceStateTask',
            name: 'set_node_instance_state',
            policy,
            payload: { ...of, state: item.state },
          })
        : ok({
            kind: 'node-event',
            type: 'SendNodeEventTask',
            name: 'send_node_event',
            policy,
            payload: { ...of, event: item.text },
          });
    }
  }
}

function policyOf(item: CodeItem, policy: TaskPolicy): TaskPolicy {
  return {
    ...policy,
    totalRetries: item.totalRetries ?? policy.totalRetries,
    retryIntervalMs: item.retryIntervalMs ?? policy.retryIntervalMs,
    sendTaskEvents: item.sendTaskEvents ?? policy.sendTaskEvents,
    onSuccess: item.asksOnSuccess ? { handler: 'ask-code' } : policy.onSuccess,
    onFailure: item.asksOnFailure ? { handler: 'ask-code' } : policy.onFailure,
  };
}

/** Compiles a built-in lifecycle graph, with the dependencies and in the subgraph of the item. */
function compileLifecycle(
  context: BuildContext,
  item: Extract<CodeItem, { item: 'lifecycle' }>,
  base: number,
  { deps, subgraph }: { deps: number[]; subgraph: number | null },
): Result<TaskSpec[], CompileError> {
  const chosen: NodeInstance[][] = [];
  for (const ids of [item.instanceIds, item.relatedIds]) {
    const found: NodeInstance[] = [];
    for (const id of ids) {
      const instance = requireInstance(context, id);
      if (!instance.ok) return instance;
      found.push(instance.value);
    }
    chosen.push(found);
  }
  const { tasks } = lifecycleGraph(context, {
    name: item.key,
    ...(item.direction === 'rollback'
      ? { direction: 'uninstall', steps: rollbackSteps }
      : { direction: item.direction }),
    processed: chosen[0]!,
    intact: chosen[1]!,
    isIgnoringFailure: item.isIgnoringFailure,
  });
  return ok(
    tasks.map((task) => ({
      ...task,
      idx: base + task.idx,
      key: `${item.key}/${task.idx}`,
      deps: [...task.deps.map((dep) => base + dep), ...(task.subgraph === null ? deps : [])],
      subgraph: task.subgraph === null ? subgraph : base + task.subgraph,
    })),
  );
}

/** Whether code that runs again requests the same work under a key as in its first run. */
export function isSameWork(stored: Omit<TaskSpec, 'idx'>, asked: TaskSpec): boolean {
  const mark = (spec: Omit<TaskSpec, 'idx'>): string => {
    const p = spec.payload as { nodeInstanceId?: string | null; operation?: string; state?: string };
    return JSON.stringify([
      spec.kind,
      spec.name,
      p.nodeInstanceId ?? null,
      p.operation ?? null,
      p.state ?? null,
    ]);
  };
  return mark(stored) === mark(asked);
}
