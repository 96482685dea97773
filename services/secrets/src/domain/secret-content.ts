/** Sealed content of a secret's row: the value alone, or, for a secret with a provider, value and options. */
import { type JsonObject, Secret } from '@baton/kernel';
import type { SealedUse } from './envelope';

export interface SecretContent {
  /** Null: an outside provider has the value. */
  value: Secret | null;
  /** Options for the request to the provider; `path` is the name of the value there. */
  options: JsonObject | null;
}

interface Written {
  value: string | null;
  options: JsonObject | null;
}

/**
 * Returns the use for the seal. The use is bound into the seal, so a process that does not know providers cannot take the JSON
 * for the value.
 */
export const useOf = (isProvided: boolean): SealedUse => (isProvided ? 'content' : 'value');

/** Returns the text to seal. `isProvided`: the row names a provider. */
export function writeContent(content: SecretContent, isProvided: boolean): Secret {
  const value = content.value?.expose() ?? null;
  if (!isProvided) return new Secret(value ?? '');
  return new Secret(JSON.stringify({ value, options: content.options } satisfies Written));
}

/** Parses the text that writeContent returned. */
export function readContent(text: Secret, isProvided: boolean): SecretContent {
  if (!isProvided) return { value: text, options: null };
  const { value, options } = JSON.parse(text.expose()) as Written;
  return { value: value === null ? null : new Secret(value), options };
}
