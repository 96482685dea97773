import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { Place } from './place';
import { PLAYBOOK_PROPERTIES } from './schema';

const SETTINGS = PLAYBOOK_PROPERTIES.extend({
  debug_level: z.coerce.number().int().min(0).max(6).default(2),
  number_of_attempts: z.coerce.number().int().min(1).default(3),
  kerberos_config: z.string().default(''),
  heal_drift: z.boolean().default(false),
});

/** What a run needs to know. */
export type Settings = z.output<typeof SETTINGS>;

const NAMES = Object.keys(SETTINGS.shape) as (keyof Settings)[];

/**
 * The settings of a run: an input goes before the runtime property of the same name, and that before the property. Empty texts,
 * lists and dictionaries say nothing.
 * @throws FatalError that names each wrong value, without showing it
 */
export function settingsOf(
  { node, instance }: Pick<Place, 'node' | 'instance'>,
  inputs: Readonly<Record<string, unknown>>,
): Settings {
  const places = [inputs, instance.runtimeProperties, node.properties];
  const given: Record<string, unknown> = {};
  for (const name of NAMES) {
    const found = places.map((values) => values[name]).find(says);
    if (found !== undefined) given[name] = found;
  }
  const parsed = SETTINGS.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new FatalError(
    parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`).join('; '),
  );
}

/** A node of any type may use these mappings, and may have a property of the same name that means nothing. */
function says(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
