import type { Json } from '@baton/kernel';
import { TestFailure } from './test-failure';
import type { TestNode } from './test-node';

export interface CrashOptions {
  inputs?: Readonly<Record<string, Json>>;
  /** What the operation did outside, for instance the requests that a test server got. Each entry must be there once. */
  effects?(node: TestNode): readonly string[];
}

/** One crash and the run after it. */
export interface Crash {
  /** The step whose result had been stored when the process died. */
  after: string;
  node: TestNode;
  /** Result of the second run. */
  result: Json;
}

const TASK = 'task-crash';

/**
 * Runs an operation as often as it has steps. Each time its process dies after another step has been stored, and the operation runs
 * again from its beginning, as at another worker. `makeNode` makes a fresh node, and fresh fakes of the outside, for each time.
 * @throws TestFailure when the operation is not resumable or has no steps, when the work of a step ran twice or not at all, or when
 * an effect was there twice
 */
export async function crashEverywhere(
  makeNode: () => TestNode | Promise<TestNode>,
  operation: string,
  options: CrashOptions = {},
): Promise<Crash[]> {
  const whole = await makeNode();
  if (!whole.isResumable(operation))
    throw new TestFailure(
      `${operation} is not resumable: it would fail after the loss of a worker; name it in resumable`,
    );
  const keys: string[] = [];
  await whole.run(operation, options.inputs, { taskId: TASK, onWork: (key) => void keys.push(key) });
  if (keys.length === 0) throw new TestFailure(`${operation} has no steps`);
  once(options, whole, 'without a crash');
  const crashes: Crash[] = [];
  for (const after of keys) crashes.push(await crash(await makeNode(), operation, after, keys, options));
  return crashes;
}

async function crash(
  node: TestNode,
  operation: string,
  after: string,
  keys: readonly string[],
  options: CrashOptions,
): Promise<Crash> {
  const worked: string[] = [];
  const onWork = (key: string): void => void worked.push(key);
  await new Promise<void>((resolve, reject) => {
    // The process dies: the step never answers, and no `catch` or `finally` of the operation runs.
    const afterStep = (key: string): Promise<void> =>
      key === after ? new Promise<never>(() => resolve()) : Promise.resolve();
    node
      .run(operation, options.inputs, { taskId: TASK, onWork, afterStep })
      .then(() => reject(new TestFailure(`${operation} did not reach the step ${after} again`)), reject);
  });
  const result = await node.run(operation, options.inputs, { taskId: TASK, onWork, isResumed: true });
  const place = `with a crash after ${after}`;
  for (const key of keys)
    if (!worked.includes(key)) throw new TestFailure(`${operation}, ${place}: the step ${key} did not run`);
  for (const key of worked) {
    if (!keys.includes(key))
      throw new TestFailure(
        `${operation}, ${place}: the step ${key} is new; keys must be the same in each run`,
      );
    if (worked.filter((one) => one === key).length > 1)
      throw new TestFailure(`${operation}, ${place}: the step ${key} ran twice`);
  }
  once(options, node, place);
  return { after, node, result };
}

function once({ effects }: CrashOptions, node: TestNode, place: string): void {
  const seen = effects?.(node) ?? [];
  for (const effect of seen)
    if (seen.filter((one) => one === effect).length > 1)
      throw new TestFailure(`${place}: ${effect} happened more than once; put it into a step`);
}
