import type { Json, JsonObject } from '@baton/kernel';
import type { DeclaredPlugin } from '../plugin';
import { isResumable } from '../resumable';
import { STEPS_PROPERTY } from '../run/steps';
import { fakeClock } from './fake-clock';
import type { LogLine } from './memory-context';
import { MemoryInstance } from './memory-instance';
import { memorySecrets } from './memory-secrets';
import {
  type Held,
  nodeContext,
  operationOf,
  type RunOptions,
  runOnce,
  type Surroundings,
  unknown,
} from './run-once';
import { type EndedRuns, type RetryPolicy, runToEnd } from './run-to-end';

export interface TestNodeOptions extends Surroundings {
  properties?: JsonObject;
  /** Runtime properties at the beginning. */
  runtime?: JsonObject;
}

/** A node instance of a type, without a manager. */
export interface TestNode {
  /**
   * Runs an operation, by its name in the type or by a mapping of the plugin, as a worker does, and returns its result. Changed runtime
   * properties are stored, also when it fails.
   * @throws what the operation throws; TestFailure for an operation that the type does not have, and for one that was stopped
   */
  run(operation: string, inputs?: Readonly<Record<string, Json>>, options?: RunOptions): Promise<Json>;
  /**
   * Runs an operation until it has ended, as a manager does: retries and deferrals happen at their time on the clock of the test.
   * @throws what the last run throws; TestFailure when the time limit has passed
   */
  runToEnd(
    operation: string,
    inputs?: Readonly<Record<string, Json>>,
    policy?: RetryPolicy,
  ): Promise<EndedRuns>;
  /** Properties of the node; may be changed, as an update of the deployment does. */
  properties: JsonObject;
  /** The stored runtime properties, without results of steps. Sensitive ones are references. */
  readonly runtimeProperties: JsonObject;
  /** Values of sensitive runtime properties, by the names of their secrets: a text, or JSON with the member `value`. */
  readonly runtimeSecrets: ReadonlyMap<string, string>;
  readonly log: readonly LogLine[];
  /** Files of the instance, as the operations wrote them. */
  readonly files: Map<string, Uint8Array>;
  /** Locks of such files; another holder's may be set. */
  readonly locks: Map<string, { id: string; holder: string }>;
  /** Whether the operation would run again after the loss of its worker. */
  isResumable(operation: string): boolean;
}

/**
 * Makes a node instance of one of the plugin's types. A type of Baton itself (`cloudify.nodes.*`) is for operations that blueprints
 * name directly.
 * @throws TestFailure when there is no such type
 */
export function testNode(plugin: DeclaredPlugin, typeName: string, options: TestNodeOptions = {}): TestNode {
  const { types } = plugin.definition;
  if (types[typeName] === undefined && !typeName.startsWith('cloudify.nodes.'))
    throw unknown('type', typeName, Object.keys(types));
  const instance = new MemoryInstance(options.runtime ?? {});
  const secrets = memorySecrets();
  const lines: LogLine[] = [];
  const operation = (name: string) => ({ name, operation: operationOf(plugin, typeName, name) });
  const node: TestNode = {
    properties: { ...options.properties },
    log: lines,
    files: instance.files.contents,
    locks: instance.files.locks,
    runtimeSecrets: secrets.values,
    get runtimeProperties() {
      const { [STEPS_PROPERTY]: _, ...shown } = instance.stored;
      return shown;
    },
    isResumable: (name) => isResumable(operationOf(plugin, typeName, name)),
    run: async (name, inputs = {}, run = {}) => await runOnce(held, operation(name), inputs, run),
    runToEnd: async (name, inputs = {}, policy = {}) => {
      const clock = options.clock ?? fakeClock();
      const taskId = `task-${++held.tasks}`;
      const own: Held = { ...held, options: { ...options, clock } };
      const timeoutMs = policy.timeoutMs === undefined ? {} : { timeoutMs: policy.timeoutMs };
      const run = (retryNumber: number): Promise<Json> =>
        runOnce(own, operation(name), inputs, { taskId, retryNumber, ...timeoutMs });
      return await runToEnd(run, clock, policy);
    },
  };
  const own = () => ({ node: nodeContext(typeName, node.properties), instance });
  const held: Held = { plugin, options, own, target: () => null, secrets, lines, tasks: 0 };
  return node;
}
