import type { Json } from '@baton/kernel';
import {
  FatalError,
  type OperationOptions,
  type TaskPlace,
  type WorkflowGraph,
  type WorkflowTask,
  type WorkOptions,
} from '@baton/plugin-sdk';
import type { WorkItem } from './work';
import type { WorkBoard } from './work-board';

type Distribute<T> = T extends WorkItem ? Omit<T, 'key'> : never;

/** Fields of an item for its retries and its failure handler. */
export function optionsOf(options: WorkOptions = {}): Partial<WorkItem> {
  const { totalRetries, retryInterval, sendTaskEvents, onFailure } = options;
  return {
    ...(totalRetries !== undefined && { totalRetries }),
    ...(retryInterval !== undefined && { retryIntervalMs: Math.round(retryInterval * 1000) }),
    ...(sendTaskEvents !== undefined && { sendTaskEvents }),
    ...(onFailure && { asksOnFailure: true }),
  };
}

export function operationItem(
  instanceId: string,
  operation: string,
  options: OperationOptions = {},
  relationship: { targetId: string; side: 'source' | 'target' } | null = null,
): Distribute<WorkItem> {
  const { kwargs = {}, mayOverride = false } = options;
  return {
    item: 'operation',
    instanceId,
    operation,
    kwargs,
    mayOverride,
    relationship,
    ...optionsOf(options),
  } as Distribute<WorkItem>;
}

/** A graph of the code under construction: items with their dependencies, submitted together at `execute`. */
export function createCodeGraph(board: WorkBoard): WorkflowGraph {
  let items = new Map<string, WorkItem>();
  const add = (subgraph: string | null, body: Distribute<WorkItem>, options?: WorkOptions): WorkflowTask => {
    const key = board.keyOf(options);
    items.set(key, { ...body, key, deps: [], subgraph } as WorkItem);
    return { key };
  };
  const dependency = (task: WorkflowTask, on: WorkflowTask): void => {
    const item = items.get(task.key);
    if (!item) throw new FatalError(`the task ${task.key} is not in the graph, or was executed before`);
    item.deps!.push(on.key);
  };
  return {
    ...placeOf(board, add, null),
    dependency,
    sequence: (...tasks) => {
      const links = tasks
        .map((link) => (Array.isArray(link) ? link : [link]))
        .filter((link) => link.length > 0);
      links.slice(1).forEach((link, i) => {
        for (const task of link) for (const on of links[i]!) dependency(task, on);
      });
    },
    execute: async () => {
      const submitted = inOrder(items);
      items = new Map();
      await board.run(submitted);
    },
  };
}

/** Sorts the items: each after its dependencies and its subgraph. @throws FatalError for a circle. */
function inOrder(items: ReadonlyMap<string, WorkItem>): WorkItem[] {
  const order = new Map<string, WorkItem>();
  const path = new Set<string>();
  for (const first of items.keys()) {
    const stack = [{ key: first, rest: beforeOf(items.get(first)!) }];
    path.add(first);
    while (stack.length > 0) {
      const { key, rest } = stack.at(-1)!;
      const before = rest.pop();
      if (before === undefined) {
        stack.pop();
        path.delete(key);
        order.set(key, items.get(key)!);
      } else if (path.has(before)) throw circle(items, [...path], before);
      else if (items.has(before) && !order.has(before)) {
        path.add(before);
        stack.push({ key: before, rest: beforeOf(items.get(before)!) });
      }
    }
  }
  return [...order.values()];
}

/** Keys that the item waits for, the last one first. */
const beforeOf = (item: WorkItem): string[] => [
  ...(item.subgraph ? [item.subgraph] : []),
  ...(item.deps ?? []).toReversed(),
];

function circle(items: ReadonlyMap<string, WorkItem>, path: string[], at: string): FatalError {
  const around = [...path.slice(path.indexOf(at)), at].map((key) => nameOf(items.get(key)!));
  const told = around.length > 20 ? [...around.slice(0, 10), '...', ...around.slice(-9)] : around;
  return new FatalError(`tasks of the graph wait for each other: ${told.join(' -> ')}`);
}

function nameOf(item: WorkItem): string {
  switch (item.item) {
    case 'operation':
      return `${item.operation} of ${item.instanceId}`;
    case 'step':
    case 'subgraph':
      return item.name;
    case 'event':
    case 'node-event':
      return `event ${item.text}`;
    case 'state':
      return `state ${item.state} of ${item.instanceId}`;
    case 'lifecycle':
      return item.direction;
  }
}

type Add = (subgraph: string | null, body: Distribute<WorkItem>, options?: WorkOptions) => WorkflowTask;

function placeOf(board: WorkBoard, add: Add, subgraph: string | null): TaskPlace {
  return {
    operation: (instanceId, operation, options) =>
      add(subgraph, operationItem(instanceId, operation, options), options),
    relationshipOperation: (sourceId, targetId, side, operation, options) =>
      add(subgraph, operationItem(sourceId, operation, options, { targetId, side }), options),
    setState: (instanceId, state) => add(subgraph, { item: 'state', instanceId, state }),
    nodeEvent: (instanceId, text) => add(subgraph, { item: 'node-event', instanceId, text }),
    event: (text) => add(subgraph, { item: 'event', text, eventType: 'workflow_stage' }),
    step: (name: string, run: () => Json | Promise<Json>, options) => {
      const task = add(
        subgraph,
        { item: 'step', name, ...optionsOf(options) } as Distribute<WorkItem>,
        options,
      );
      board.step(task.key, run);
      return task;
    },
    subgraph: (name, options) => {
      const task = add(
        subgraph,
        { item: 'subgraph', name, ...optionsOf(options) } as Distribute<WorkItem>,
        options,
      );
      return { ...task, ...placeOf(board, add, task.key) };
    },
  };
}
