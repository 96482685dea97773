import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { InstanceContext } from '@baton/plugin-sdk';

/** Runtime property with the state of operations between two runs; `delete` removes it. */
export const STATE = '_composition';
const EVENTS = 'received_events';

/** Returns the object in a runtime property; made when missing. */
export function objectIn(holder: JsonObject, key: string): JsonObject {
  const found = holder[key];
  if (isJsonObject(found)) return found;
  const made: JsonObject = {};
  holder[key] = made;
  return made;
}

export function stateOf(instance: InstanceContext): JsonObject {
  return objectIn(instance.runtimeProperties, STATE);
}

/** Number of events of each execution that were written into the log of this one. */
export function receivedEvents(instance: InstanceContext): JsonObject {
  return objectIn(instance.runtimeProperties, EVENTS);
}

/**
 * Stores the runtime properties now. When another operation was first (several use one shared resource), its keys stay
 * and ours are added.
 */
export async function save(instance: InstanceContext): Promise<void> {
  await instance.update((mine, latest) => ({ ...latest, ...mine, ...merged(mine, latest) }));
}

function merged(mine: JsonObject, latest: JsonObject): JsonObject {
  const both: JsonObject = {};
  for (const key of [STATE, EVENTS])
    if (isJsonObject(mine[key]) && isJsonObject(latest[key])) both[key] = deep(mine[key], latest[key]);
  return both;
}

function deep(mine: JsonObject, latest: JsonObject): JsonObject {
  const entries = Object.entries(mine).map(([key, value]): [string, Json] => {
    const other = latest[key];
    return [key, isJsonObject(value) && isJsonObject(other) ? deep(value, other) : value];
  });
  return { ...latest, ...Object.fromEntries(entries) };
}
