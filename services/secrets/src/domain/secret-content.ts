/** What is sealed in a secret's row: the value alone, or, for a secret of a provider, its options beside it. */
import { type JsonObject, Secret } from '@baton/kernel';
import type { SealedUse } from './envelope';

export interface SecretContent {
  /** Null: an outside provider keeps it. */
  value: Secret | null;
  /** What the provider is asked with; `path` names the value there. */
  options: JsonObject | null;
}

interface Written {
  value: string | null;
  options: JsonObject | null;
}

/** Bound into the seal: a process that knows nothing of providers cannot take the JSON for the value. */
export const useOf = (isProvided: boolean): SealedUse => (isProvided ? 'content' : 'value');

/** The text to seal. `isProvided`: the row names a provider. */
export function writeContent(content: SecretContent, isProvided: boolean): Secret {
  const value = content.value?.expose() ?? null;
  if (!isProvided) return new Secret(value ?? '');
  return new Secret(JSON.stringify({ value, options: content.options } satisfies Written));
}

/** Undoes writeContent. */
export function readContent(text: Secret, isProvided: boolean): SecretContent {
  if (!isProvided) return { value: text, options: null };
  const { value, options } = JSON.parse(text.expose()) as Written;
  return { value: value === null ? null : new Secret(value), options };
}
