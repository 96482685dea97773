import { type Json, type JsonObject, nearestName } from '@baton/kernel';
import type { PluginOperation } from '../context';
import { mappingOf } from '../define/operation-names';
import { OperationRetry } from '../errors';
import type { DeclaredPlugin } from '../plugin';
import { type ReplacedParts, withReplacedParts } from '../run/replaced-parts';
import type { Cassette } from './cassette';
import type { FakeClock } from './fake-clock';
import { type LogLine, type MemorySide, memoryContext } from './memory-context';
import type { MemorySecrets } from './memory-secrets';
import { timedOut } from './run-to-end';
import { TestFailure } from './test-failure';

/** What stands around the operations of a test. */
export interface Surroundings {
  /** Values of the secrets that the plugin declares. */
  secrets?: Readonly<Record<string, string>>;
  /** Files of the blueprint, by path. */
  files?: Readonly<Record<string, string | Uint8Array>>;
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

/** What all runs of one test node or relationship share. */
export interface Held {
  plugin: DeclaredPlugin;
  options: Surroundings;
  /** The node, as it is now; of a relationship its source. */
  own(): MemorySide;
  target(): MemorySide | null;
  secrets: MemorySecrets;
  lines: LogLine[];
  tasks: number;
}

/** Runs an operation once, as a worker does. Changed runtime properties are stored, unless it was stopped. */
export async function runOnce(
  held: Held,
  {
    name,
    operation,
    side = null,
  }: { name: string; operation: PluginOperation; side?: 'source' | 'target' | null },
  inputs: Readonly<Record<string, Json>>,
  run: RunOptions,
): Promise<Json> {
  const { plugin, options, lines } = held;
  const [own, target] = [held.own(), held.target()];
  const instances = [own.instance, ...(target ? [target.instance] : [])];
  for (const instance of instances) await instance.refresh();
  const stop = stopOf(run, options.clock);
  let again: OperationRetry | null = null;
  const ctx = memoryContext({
    own,
    target,
    side,
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
    const returned = await operation(withReplacedParts(ctx, partsOf(held, stop.signal)), inputs);
    if (stop.signal.aborted) throw new TestFailure(`${name} was stopped; nothing is stored`);
    if (again !== null) throw again;
    return resultOf(name, returned);
  } catch (thrown) {
    throw stop.why() ?? thrown;
  } finally {
    stop.end();
    if (!stop.signal.aborted) for (const instance of instances) await instance.update();
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

/** The result as the manager stores it. */
function resultOf(name: string, returned: unknown): Json {
  const text = JSON.stringify(returned ?? null);
  if (text === undefined) throw new TestFailure(`the result of ${name} is no JSON value: ${typeof returned}`);
  return JSON.parse(text) as Json;
}

export function unknown(what: string, name: string, known: readonly string[]): TestFailure {
  const nearest = nearestName(name, known);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return new TestFailure(`there is no ${what} ${name}, only ${known.join(', ') || 'none'}${hint}`);
}

/** A node of a test. */
export const nodeContext = (type: string, properties: JsonObject, id = 'node') => ({
  id,
  name: id,
  type,
  typeHierarchy: ['cloudify.nodes.Root', type],
  properties: structuredClone(properties),
  numberOfInstances: 1,
});

/** The operation of a type by its name, or by a mapping. @throws TestFailure that names the nearest one */
export function operationOf(plugin: DeclaredPlugin, typeName: string, name: string): PluginOperation {
  const found = plugin.operations[mappingOf(typeName, name)] ?? plugin.operations[name];
  if (found !== undefined) return found;
  const known = Object.keys(plugin.operations).filter((mapping) => mapping.startsWith(`${typeName}.`));
  throw unknown(
    'operation',
    name,
    known.map((mapping) => mapping.slice(typeName.length + 1)),
  );
}
