import { TemplateError } from './tokens';
import type { Value } from './values';

/** Largest value of an expression: characters of its texts, and one for each other part. */
export const MAX_WEIGHT = 4 * 1024 * 1024;

/** Weights of lists and dictionaries. One that holds another one twice weighs it twice: so it is written, too. */
const weights = new WeakMap<object, number>();

/**
 * Returns the value, unless it is too large: a few lines of a template could double a list until the memory of the worker ends.
 * @throws TemplateError
 */
export function bounded(value: Value): Value {
  requireWeight(weightOf(value));
  return value;
}

/** @throws TemplateError for a text or list that would become too large; called before it is made */
export function requireWeight(weight: number): void {
  if (weight > MAX_WEIGHT)
    throw new TemplateError(`a value of more than ${MAX_WEIGHT} characters or parts`, 0);
}

function weightOf(value: Value): number {
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return 1;
  const known = weights.get(value);
  if (known !== undefined) return known;
  let weight = 1;
  if (Array.isArray(value))
    for (const inner of value) {
      weight += weightOf(inner);
      if (weight > MAX_WEIGHT) break;
    }
  else for (const [key, inner] of Object.entries(value)) weight += key.length + weightOf(inner);
  weights.set(value, weight);
  return weight;
}
