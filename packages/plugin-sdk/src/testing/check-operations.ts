import type { Json } from '@baton/kernel';
import { type AnyNodeType, LIFECYCLE_OPERATIONS } from '../define/node-type';
import type { DeclaredPlugin } from '../plugin';
import { sensitiveIn } from '../run/node-scope';
import { crashEverywhere } from './crash-everywhere';
import { TestFailure } from './test-failure';
import type { TestNode } from './test-node';
import type { CheckedPlugin, TypeSample } from './type-sample';

/** Shorter values are not masked. */
const SHORTEST = 4;

/** Runs the operations of a sample in their order, and each resumable one with crashes. Returns what is wrong. */
export async function checkOperations(
  plugin: DeclaredPlugin,
  name: string,
  type: AnyNodeType,
  sample: TypeSample,
  checked: CheckedPlugin,
): Promise<string[]> {
  const order = sample.order ?? LIFECYCLE_OPERATIONS.filter((operation) => type[operation] !== undefined);
  const hidden = [...(sample.hidden ?? []), ...hiddenOf(type, sample)];
  const problems: string[] = [];
  const whole = await madeFrom(sample);
  for (const [at, operation] of order.entries()) {
    const full = `${name}.${operation}`;
    const failure = await runs(whole, operation, sample);
    problems.push(...shownIn(full, whole, failure, hidden));
    if (failure !== null) {
      problems.push(`${full}: ${failure.message}`);
      break;
    }
    checked.ran.push(full);
    if (!whole.isResumable(operation)) continue;
    const lost = await survives(() => prepared(sample, order.slice(0, at)), operation, sample);
    if (lost === null) checked.survived.push(full);
    else problems.push(`${full}: ${lost.message}`);
  }
  const never = (type.resumable ?? []).filter((operation) => !order.includes(operation));
  if (never.length > 0)
    problems.push(
      `${name}: the sample does not run ${never.join(', ')}, which ${plugin.name} says to be resumable`,
    );
  return problems;
}

const madeFrom = async (sample: TypeSample): Promise<TestNode> => await sample.make({ ...sample.properties });

/** Runs an operation. Null: it ended well. */
async function runs(node: TestNode, operation: string, { inputs }: TypeSample): Promise<Error | null> {
  try {
    await node.run(operation, inputs?.[operation] ?? {});
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

async function prepared(sample: TypeSample, before: readonly string[]): Promise<TestNode> {
  const node = await madeFrom(sample);
  for (const operation of before) await node.run(operation, sample.inputs?.[operation] ?? {});
  return node;
}

/** Crashes behind each step; without steps the operation runs twice. Null: all went well. */
async function survives(
  make: () => Promise<TestNode>,
  operation: string,
  { inputs, effects }: TypeSample,
): Promise<Error | null> {
  const given: Readonly<Record<string, Json>> = inputs?.[operation] ?? {};
  const seen = effects ? { effects } : {};
  try {
    await crashEverywhere(make, operation, { inputs: given, ...seen });
  } catch (thrown) {
    if (!(thrown instanceof TestFailure) || !thrown.message.endsWith('has no steps')) return thrown as Error;
    return await twice(await make(), operation, given);
  }
  return null;
}

async function twice(
  node: TestNode,
  operation: string,
  inputs: Readonly<Record<string, Json>>,
): Promise<Error | null> {
  try {
    await node.run(operation, inputs, { taskId: 'task-twice' });
    await node.run(operation, inputs, { taskId: 'task-twice', isResumed: true });
    return null;
  } catch (thrown) {
    return new Error(`it is resumable, and failed when it ran again: ${(thrown as Error).message}`);
  }
}

/** Texts of sensitive properties and inputs. */
function hiddenOf(type: AnyNodeType, { properties = {}, inputs = {} }: TypeSample): string[] {
  const ofInputs = Object.entries(inputs).flatMap(([operation, values]) => {
    const schema = type.inputs?.[operation as 'create'] ?? type.operations?.[operation]?.inputs;
    return sensitiveIn(schema).flatMap((name) => textsIn(values[name]));
  });
  return [...sensitiveIn(type.properties).flatMap((name) => textsIn(properties[name])), ...ofInputs];
}

/** The value in a secret: a text, or JSON around another one. */
function keptValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length < SHORTEST ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function shownIn(name: string, node: TestNode, failure: Error | null, hidden: readonly string[]): string[] {
  const kept = [...node.runtimeSecrets.values()].flatMap((text) => textsIn(keptValue(text)));
  const places = {
    'a log line': node.log.map(({ message }) => message).join('\n'),
    'its error': `${failure?.message ?? ''}\n${failure?.stack ?? ''}`,
    'a runtime property': JSON.stringify(node.runtimeProperties),
  };
  return Object.entries(places).flatMap(([place, text]) =>
    [...new Set([...hidden, ...kept])].some((value) => text.includes(value))
      ? [`${name} shows a value in ${place} that must be hidden`]
      : [],
  );
}
