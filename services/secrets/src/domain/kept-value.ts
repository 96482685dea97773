/** Computes how a write changes the value of a secret and its provider. Pure; the caller has looked up the provider before. */
import { AppError, badParameter, type JsonObject, type Secret } from '@baton/kernel';
import type { SecretContent } from './secret-content';

/** A provider that the writer may use. */
export interface UsedProvider {
  tenant: string;
  name: string;
  type: 'local' | 'vault' | 'cloudify';
}

export interface Kept {
  provider: UsedProvider | null;
  content: SecretContent;
}

/** Undefined: not given. Empty options count as not given; so does an empty text when the value is at an outside provider. */
export interface KeptChange {
  value: unknown;
  provider?: UsedProvider;
  options?: JsonObject | null;
}

const isOutside = (provider: UsedProvider | null): boolean => provider !== null && provider.type !== 'local';

/**
 * Returns the next state of a secret after a request. `storedText` checks a value and returns its stored text.
 * @throws AppError bad_parameters_error when a value is missing, or is given although the provider has it.
 */
export function nextKept(
  current: Kept | null,
  change: KeptChange,
  storedText: (value: unknown) => Secret,
): Kept {
  const provider = change.provider ?? current?.provider ?? null;
  const given = change.options && Object.keys(change.options).length === 0 ? undefined : change.options;
  if (given && provider === null)
    throw badParameter('provider_options', 'provider_options need a provider_name', {
      expected: 'provider_name',
    });
  const isMoved = change.provider !== undefined && change.provider.name !== current?.provider?.name;
  const options = given !== undefined ? given : isMoved ? null : (current?.content.options ?? null);
  if (isOutside(provider)) {
    if (change.value !== undefined && change.value !== null && change.value !== '') {
      throw new AppError(
        'bad_parameters_error',
        `The value is kept by the secrets provider \`${provider!.name}\` and must be changed there`,
        { field: 'value', expected: 'no value' },
      );
    }
    return { provider, content: { value: null, options } };
  }
  const value =
    change.value === undefined && current?.content.value ? current.content.value : storedText(change.value);
  return { provider, content: { value, options } };
}
