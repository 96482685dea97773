import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { InstanceContext } from '../context';

/** Reserved runtime property: results of steps, by id of the task and key of the step. */
export const STEPS_PROPERTY = '__baton_steps';

/** Other tasks of the instance whose results are kept. Few operations of one instance run at once; results of older ones are garbage. */
const KEPT_TASKS = 20;

/**
 * Runs `work` once for a task: its result is stored with the instance before this resolves, and is the answer of later calls.
 * A process that dies after `work` and before the store runs the work again; nobody can tell these apart.
 */
export async function storedStep<T extends Json>(
  instance: InstanceContext,
  taskId: string,
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  const known = stepsOf(instance, taskId);
  if (Object.hasOwn(known, key)) return known[key] as T;
  const result = ((await work()) ?? null) as T;
  const all = instance.runtimeProperties[STEPS_PROPERTY];
  const others = Object.entries(isJsonObject(all) ? all : {}).filter(([id]) => id !== taskId);
  instance.runtimeProperties = {
    ...instance.runtimeProperties,
    [STEPS_PROPERTY]: {
      ...Object.fromEntries(others.slice(-KEPT_TASKS)),
      [taskId]: { ...stepsOf(instance, taskId), [key]: result },
    },
  };
  await instance.update();
  return result;
}

function stepsOf(instance: InstanceContext, taskId: string): JsonObject {
  const all = instance.runtimeProperties[STEPS_PROPERTY];
  const own = isJsonObject(all) ? all[taskId] : undefined;
  return isJsonObject(own) ? own : {};
}
