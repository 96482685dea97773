import type { Zone } from '../text/format';
import type { Theme } from './settings';

export interface OwnSettings {
  theme?: Theme;
  zone?: Zone;
}

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const ZONES: readonly Zone[] = ['local', 'utc'];

/** Returns the stored preferences that this console knows, and ignores all others. */
export function ownSettingsOf({ theme, zone }: Record<string, unknown>): OwnSettings {
  const known: OwnSettings = {};
  const knownTheme = THEMES.find((one) => one === theme);
  const knownZone = ZONES.find((one) => one === zone);
  if (knownTheme) known.theme = knownTheme;
  if (knownZone) known.zone = knownZone;
  return known;
}
