import type { Visibility } from '@baton/contracts';
import type { Fate } from './importer';
import { lost } from './take-each';

/**
 * Judges a new name by what other tenants have of this name. An object of another tenant is never touched: a global one there leaves no
 * room, and a new global one becomes one of its tenant.
 */
export function roomFor(
  id: string,
  wanted: Visibility,
  others: readonly { visibility: string }[],
): { visibility: Visibility; told: Told } | { fate: Fate } {
  if (others.some(({ visibility }) => visibility === 'global'))
    return { fate: lost(id, 'name_taken', 'another tenant has a global one of this name') };
  if (wanted !== 'global' || others.length === 0) return { visibility: wanted, told: {} };
  return {
    visibility: 'tenant',
    told: {
      code: 'visibility_narrowed',
      text: 'another tenant has one of this name, so it is not global here',
    },
  };
}

export type Told = Pick<Fate, 'code' | 'text'>;

/** The first code, with the texts of all. */
export function joined(...all: readonly Told[]): Told {
  const said = all.filter(({ code }) => code !== undefined);
  if (said.length === 0) return {};
  return { code: said[0]!.code!, text: said.map(({ text }) => text).join('; ') };
}
