import { isJsonObject, type JsonObject } from '@baton/kernel';

/** A section of a plan that may be absent. */
export function modelPart(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
