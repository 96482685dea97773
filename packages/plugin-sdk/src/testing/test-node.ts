import { type Json, type JsonObject, nearestName } from '@baton/kernel';
import { mappingOf } from '../define/operation-names';
import type { DeclaredPlugin } from '../plugin';
import { isResumable } from '../resumable';
import { STEPS_PROPERTY } from '../run/steps';
import { type LogLine, memoryContext } from './memory-context';
import { MemoryInstance } from './memory-instance';
import { TestFailure } from './test-failure';

export interface TestNodeOptions {
  properties?: JsonObject;
  /** Runtime properties at the beginning. */
  runtime?: JsonObject;
  /** Values of the secrets that the plugin declares. */
  secrets?: Readonly<Record<string, string>>;
  /** Texts of files of the blueprint. */
  files?: Readonly<Record<string, string>>;
}

export interface RunOptions {
  /** Default: a task of its own for each run. Runs with the same id are attempts of one task. */
  taskId?: string;
  isResumed?: boolean;
  /** Name by which the blueprint calls the operation. Default: the given one. */
  operationName?: string;
  signal?: AbortSignal;
  afterStep?(key: string): Promise<void>;
  onWork?(key: string): void;
}

/** A node instance of a type, without a manager. */
export interface TestNode {
  /**
   * Runs an operation, by its name in the type or by a mapping of the plugin, as a worker does, and returns its result. Changed runtime properties are stored, also when it fails.
   * @throws what the operation throws; TestFailure for an operation that the type does not have
   */
  run(operation: string, inputs?: Readonly<Record<string, Json>>, options?: RunOptions): Promise<Json>;
  /** Properties of the node; may be changed, as an update of the deployment does. */
  properties: JsonObject;
  /** The stored runtime properties, without results of steps. */
  readonly runtimeProperties: JsonObject;
  readonly log: readonly LogLine[];
  /** Whether the operation would run again after the loss of its worker. */
  isResumable(operation: string): boolean;
}

/**
 * Makes a node instance of one of the plugin's types. A type of Baton itself (`cloudify.nodes.*`) is for operations that blueprints
 * name directly.
 * @throws TestFailure when there is no such type
 */
export function testNode(plugin: DeclaredPlugin, typeName: string, options: TestNodeOptions = {}): TestNode {
  const type = plugin.definition.types[typeName];
  if (type === undefined && !typeName.startsWith('cloudify.nodes.'))
    throw unknown('type', typeName, Object.keys(plugin.definition.types));
  const instance = new MemoryInstance(options.runtime ?? {});
  const lines: LogLine[] = [];
  const operationOf = (name: string) => {
    const found = plugin.operations[mappingOf(typeName, name)] ?? plugin.operations[name];
    if (found !== undefined) return found;
    const known = Object.keys(plugin.operations).filter((mapping) => mapping.startsWith(`${typeName}.`));
    throw unknown(
      'operation',
      name,
      known.map((mapping) => mapping.slice(typeName.length + 1)),
    );
  };
  let tasks = 0;
  const node: TestNode = {
    properties: { ...options.properties },
    log: lines,
    get runtimeProperties() {
      const { [STEPS_PROPERTY]: _, ...shown } = instance.stored;
      return shown;
    },
    isResumable: (name) => isResumable(operationOf(name)),
    run: async (name, inputs = {}, run = {}) => {
      const operation = operationOf(name);
      await instance.refresh();
      const ctx = memoryContext({
        node: nodeContext(typeName, node.properties),
        instance,
        plugin: { name: plugin.name, version: plugin.version, secrets: plugin.secrets ?? [] },
        secrets: options.secrets ?? {},
        files: options.files ?? {},
        lines,
        operation: run.operationName ?? name,
        taskId: run.taskId ?? `task-${++tasks}`,
        isResumed: run.isResumed ?? false,
        signal: run.signal ?? new AbortController().signal,
        afterStep: run.afterStep ?? (async () => undefined),
        onWork: run.onWork ?? (() => undefined),
      });
      try {
        return resultOf(name, await operation(ctx, inputs));
      } finally {
        await instance.update();
      }
    },
  };
  return node;
}

const nodeContext = (type: string, properties: JsonObject) => ({
  id: 'node',
  name: 'node',
  type,
  typeHierarchy: ['cloudify.nodes.Root', type],
  properties: structuredClone(properties),
  numberOfInstances: 1,
});

/** The result as the manager stores it. */
function resultOf(name: string, returned: unknown): Json {
  const text = JSON.stringify(returned ?? null);
  if (text === undefined) throw new TestFailure(`the result of ${name} is no JSON value: ${typeof returned}`);
  return JSON.parse(text) as Json;
}

function unknown(what: string, name: string, known: readonly string[]): TestFailure {
  const nearest = nearestName(name, known);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return new TestFailure(`there is no ${what} ${name}, only ${known.join(', ') || 'none'}${hint}`);
}
