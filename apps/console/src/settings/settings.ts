/** Settings of the user, as stored in this browser (settings/preferences.ts). Nothing secret is kept here. */
import { useSyncExternalStore } from 'react';
import type { Zone } from '../text/format';

export type Theme = 'system' | 'light' | 'dark';
export interface Settings {
  theme: Theme;
  zone: Zone;
  /** The last shown tenant. */
  tenant: string | null;
}

const KEY = 'baton.settings';
const USUAL: Settings = { theme: 'system', zone: 'local', tenant: null };
const listeners = new Set<() => void>();
let current = stored();

function stored(): Settings {
  try {
    return { ...USUAL, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>) };
  } catch {
    // Storage is unavailable or contains invalid data: use the defaults.
    return USUAL;
  }
}

export function changeSettings(change: Partial<Settings>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Without storage the setting lasts as long as the page.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

/** Sets the theme. Without a chosen theme the colours follow the system: styles/tokens.css. */
export function applyTheme(): void {
  if (current.theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current.theme;
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const readSettings = (): Settings => current;
export const useSettings = (): Settings => useSyncExternalStore(subscribe, () => current);
