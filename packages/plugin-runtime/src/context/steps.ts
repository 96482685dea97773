import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import type { Instance } from './instance';
import type { OperationSession } from './session';

/** The runtime property that holds the results of steps: {id of the task: {key: result}}. */
const STEPS = '__baton_steps';

/** In a relationship operation the source holds the steps. @throws FatalError without an instance */
async function holderOf(session: OperationSession): Promise<Instance> {
  if (session.type === 'deployment')
    throw new FatalError('ctx.step needs a node instance, which stores its results; this operation has none');
  return (await (session.type === 'node-instance' ? session.own() : session.side('source'))).instance;
}

function stepsOf(properties: JsonObject, taskId: string): JsonObject {
  const all = properties[STEPS];
  const own = isJsonObject(all) ? all[taskId] : undefined;
  return isJsonObject(own) ? own : {};
}

/**
 * Runs a step once in a task: its result is stored before this resolves, with the other changed runtime properties, and a later
 * attempt of the task gets the stored result instead. When the process dies after the work and before the result is stored, the
 * work runs again: the effect of a step must bear that.
 * @throws FatalError for a key that is used twice at once, and for a result that is no JSON
 */
export async function runStep<T extends Json>(
  session: OperationSession,
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  const instance = await holderOf(session);
  const { taskId } = session.task;
  const known = stepsOf(instance.runtimeProperties, taskId);
  if (Object.hasOwn(known, key)) return known[key] as T;
  if (session.openSteps.has(key)) throw new FatalError(`ctx.step: the step ${key} runs already`);
  session.openSteps.add(key);
  try {
    const result = await work();
    const text = JSON.stringify(result ?? null) as string | undefined;
    if (text === undefined) throw new FatalError(`ctx.step: the result of ${key} is no JSON`);
    const steps = { ...stepsOf(instance.runtimeProperties, taskId), [key]: JSON.parse(text) as Json };
    // Steps of other tasks are over: only the latest task of an instance is ever resumed.
    instance.runtimeProperties = { ...instance.runtimeProperties, [STEPS]: { [taskId]: steps } };
    await instance.update((mine, latest) => ({ ...latest, ...mine }));
    return result;
  } finally {
    session.openSteps.delete(key);
  }
}

/**
 * Removes steps of earlier tasks, from what is stored next. The steps of this task stay: its worker may still be lost before its end
 * is reported, and the next attempt must find them. The next operation that reads the instance removes them.
 */
export async function forgetOlderSteps(session: OperationSession): Promise<void> {
  if (!session.hasOpened || session.type === 'deployment') return;
  const instance = await holderOf(session);
  const all = (stepsOwner(instance) as JsonObject)[STEPS];
  if (all === undefined || (isJsonObject(all) && Object.hasOwn(all, session.task.taskId))) return;
  const { [STEPS]: _, ...rest } = instance.runtimeProperties;
  instance.runtimeProperties = rest;
}

/** Runtime properties that an operation has replaced by something else are refused when they are stored. */
const stepsOwner = ({ runtimeProperties }: Instance): object =>
  isJsonObject(runtimeProperties) ? runtimeProperties : {};
