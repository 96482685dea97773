import { isDeepStrictEqual } from 'node:util';
import { FatalError } from '@baton/plugin-sdk';
import { checked } from '../engine/client-config';
import { isKeyText } from '../files/ansible-files';
import { SETTINGS, type SettingName, type Settings } from './schema';

const MASK = '********';
/** Values that are never shown, besides those of `sensitive_keys`. */
const ALWAYS = /^(ansible_(ssh_)?pass(word)?|ansible_(become|sudo)_pass(word)?|vault_password)$/i;
/** In the text of an inventory. */
const PASSWORD_IN_TEXT = /\b(ansible_\w*pass(word)?|vault_password)["']?\s*[=:]/i;

type Values = Partial<Record<SettingName, unknown>>;

/** The value without what must not be shown; `hidden` gets that. */
function masked(value: unknown, sensitiveKeys: readonly string[], hidden: unknown[] = []): unknown {
  if (isKeyText(value) || (typeof value === 'string' && PASSWORD_IN_TEXT.test(value))) {
    hidden.push(value);
    return MASK;
  }
  if (Array.isArray(value)) return value.map((inner) => masked(inner, sensitiveKeys, hidden));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (!ALWAYS.test(name) && !sensitiveKeys.includes(name))
        return [name, masked(inner, sensitiveKeys, hidden)];
      hidden.push(inner);
      return [name, MASK];
    }),
  );
}

const keysOf = (...values: readonly unknown[]): string[] =>
  values.flat().filter((one) => typeof one === 'string');

/**
 * What precreate stores of its inputs: without sensitive values, which create takes from the properties.
 * @throws FatalError for an input with a sensitive value that is not the one of the property: nobody could store it
 */
export function storedSettings(properties: Values, inputs: Values): Values {
  const keys = keysOf(properties.sensitive_keys, inputs.sensitive_keys);
  const stored: Values = {};
  for (const name of Object.keys(SETTINGS.shape) as SettingName[]) {
    const value = inputs[name];
    if (value === undefined) continue;
    const hidden: unknown[] = [];
    stored[name] = masked(value, keys, hidden);
    if (hidden.length > 0 && !isDeepStrictEqual(value, properties[name]))
      throw new FatalError(
        `inputs.${name}: holds a sensitive value, which runtime properties would show: expected it in the property ${name}`,
      );
  }
  return stored;
}

/** The settings of create: the stored inputs, with the sensitive values of the properties. `hidden`: these. @throws FatalError */
export function settingsOf(properties: Values, runtime: Values): { settings: Settings; hidden: unknown[] } {
  const keys = keysOf(properties.sensitive_keys, runtime.sensitive_keys);
  const hidden: unknown[] = [];
  const values: Values = {};
  for (const name of Object.keys(SETTINGS.shape) as SettingName[]) {
    const own = properties[name];
    const shown = masked(own, keys, hidden);
    const stored = runtime[name];
    values[name] = stored === undefined || isDeepStrictEqual(stored, shown) ? own : stored;
  }
  return { settings: checked(SETTINGS, values, 'playbook'), hidden };
}
