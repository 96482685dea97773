import { type Json, type JsonObject, nearestName } from '@baton/kernel';
import type { PluginOperation } from '../context';
import { mappingOf } from '../define/operation-names';
import { OperationRetry } from '../errors';
import type { DeclaredPlugin } from '../plugin';
import { isResumable } from '../resumable';
import { type ReplacedParts, withReplacedParts } from '../run/replaced-parts';
import { STEPS_PROPERTY } from '../run/steps';
import type { Cassette } from './cassette';
import { type FakeClock, fakeClock } from './fake-clock';
import { type LogLine, memoryContext } from './memory-context';
import { MemoryInstance } from './memory-instance';
import { type MemorySecrets, memorySecrets } from './memory-secrets';
import { type EndedRuns, type RetryPolicy, runToEnd, timedOut } from './run-to-end';
import { TestFailure } from './test-failure';

export interface TestNodeOptions {
  properties?: JsonObject;
  /** Runtime properties at the beginning. */
  runtime?: JsonObject;
  /** Values of the secrets that the plugin declares. */
  secrets?: Readonly<Record<string, string>>;
  /** Texts of files of the blueprint. */
  files?: Readonly<Record<string, string>>;
  /** Time of `clock` in operations, of waits between requests and of `runToEnd`. Default: that of the machine; `runToEnd` has its own. */
  clock?: FakeClock;
  /** Answers of servers and programs from a recording. Default: the real ones. */
  cassette?: Cassette;
}

export interface RunOptions {
  /** Default: a task of its own for each run. Runs with the same id are attempts of one task. */
  taskId?: string;
  isResumed?: boolean;
  /** Name by which the blueprint calls the operation. Default: the given one. */
  operationName?: string;
  retryNumber?: number;
  /** Nothing is stored after an abort, as on a manager. */
  signal?: AbortSignal;
  /** Time limit, on the clock of the test. */
  timeoutMs?: number;
  afterStep?(key: string): Promise<void>;
  onWork?(key: string): void;
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
  /** Values of sensitive runtime properties, by the names of their secrets. */
  readonly runtimeSecrets: ReadonlyMap<string, Json>;
  readonly log: readonly LogLine[];
  /** Whether the operation would run again after the loss of its worker. */
  isResumable(operation: string): boolean;
}

/** What all runs of one test node share. */
interface Held {
  plugin: DeclaredPlugin;
  typeName: string;
  options: TestNodeOptions;
  node: TestNode;
  instance: MemoryInstance;
  secrets: MemorySecrets;
  lines: LogLine[];
  tasks: number;
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
  const node: TestNode = {
    properties: { ...options.properties },
    log: lines,
    runtimeSecrets: secrets.values,
    get runtimeProperties() {
      const { [STEPS_PROPERTY]: _, ...shown } = instance.stored;
      return shown;
    },
    isResumable: (name) => isResumable(operationOf(plugin, typeName, name)),
    run: (name, inputs = {}, run = {}) => runOnce(held, name, inputs, run),
    runToEnd: async (name, inputs = {}, policy = {}) => {
      const clock = options.clock ?? fakeClock();
      const taskId = `task-${++held.tasks}`;
      const own: Held = { ...held, options: { ...options, clock } };
      const timeoutMs = policy.timeoutMs === undefined ? {} : { timeoutMs: policy.timeoutMs };
      const run = (retryNumber: number): Promise<Json> =>
        runOnce(own, name, inputs, { taskId, retryNumber, ...timeoutMs });
      return await runToEnd(run, clock, policy);
    },
  };
  const held: Held = { plugin, typeName, options, node, instance, secrets, lines, tasks: 0 };
  return node;
}

function operationOf(plugin: DeclaredPlugin, typeName: string, name: string): PluginOperation {
  const found = plugin.operations[mappingOf(typeName, name)] ?? plugin.operations[name];
  if (found !== undefined) return found;
  const known = Object.keys(plugin.operations).filter((mapping) => mapping.startsWith(`${typeName}.`));
  throw unknown(
    'operation',
    name,
    known.map((mapping) => mapping.slice(typeName.length + 1)),
  );
}

async function runOnce(
  held: Held,
  name: string,
  inputs: Readonly<Record<string, Json>>,
  run: RunOptions,
): Promise<Json> {
  const { plugin, options, node, instance, lines } = held;
  const operation = operationOf(plugin, held.typeName, name);
  await instance.refresh();
  const stop = stopOf(run, options.clock);
  let again: OperationRetry | null = null;
  const ctx = memoryContext({
    node: nodeContext(held.typeName, node.properties),
    instance,
    plugin: { name: plugin.name, version: plugin.version, secrets: plugin.secrets ?? [] },
    secrets: options.secrets ?? {},
    files: options.files ?? {},
    lines,
    operation: run.operationName ?? name,
    taskId: run.taskId ?? `task-${++held.tasks}`,
    isResumed: run.isResumed ?? false,
    signal: stop.signal,
    retryNumber: run.retryNumber ?? 0,
    onRetry: (message, retryAfter) => {
      again = new OperationRetry(message, { retryAfter: retryAfter ?? null });
    },
    afterStep: run.afterStep ?? (async () => undefined),
    onWork: run.onWork ?? (() => undefined),
  });
  try {
    const result = resultOf(
      name,
      await operation(withReplacedParts(ctx, partsOf(held, stop.signal)), inputs),
    );
    if (stop.signal.aborted) throw new TestFailure(`${name} was stopped; nothing is stored`);
    if (again !== null) throw again;
    return result;
  } catch (thrown) {
    throw stop.signal.aborted ? (stop.why() ?? thrown) : thrown;
  } finally {
    stop.end();
    if (!stop.signal.aborted) await instance.update();
    await options.cassette?.save();
  }
}

function partsOf(
  { options: { clock, cassette, secrets: given }, secrets }: Held,
  signal: AbortSignal,
): ReplacedParts {
  const stoppable = clock && {
    now: clock.now,
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
        void clock.sleep(ms).then(resolve);
      }),
  };
  return {
    secrets,
    ...(stoppable ? { clock: stoppable } : {}),
    ...(cassette?.parts(given ?? {}) ?? {}),
  };
}

/** The signal of a run, with its time limit. */
function stopOf({ signal, timeoutMs }: RunOptions, clock: FakeClock | undefined) {
  const stop = new AbortController();
  let isLate = false;
  const cancel =
    timeoutMs === undefined || clock === undefined
      ? () => undefined
      : clock.at(clock.now() + timeoutMs, () => {
          isLate = true;
          stop.abort('timed-out');
        });
  const onAbort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: stop.signal,
    why: () => (isLate ? timedOut(timeoutMs!) : null),
    end: () => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    },
  };
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
