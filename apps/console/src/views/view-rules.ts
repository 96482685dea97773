/** Rules of saved views: which views a screen shows, and which names are allowed. */
import { t } from '../text/text';
import type { SavedView } from './views';

/** Returns the screen of an address: the path after the tenant. */
export const screenOf = (path: string): string => path.split('/').slice(2).join('/');

/** Returns the views of the screen; of equal names the user's own view first. */
export const viewsOf = (views: readonly SavedView[], screen: string, username: string): SavedView[] =>
  views
    .filter((view) => view.screen === screen)
    .sort(
      (a, b) =>
        a.name.localeCompare(b.name) || Number(b.created_by === username) - Number(a.created_by === username),
    );

/**
 * Returns the reason why a name cannot be used; null when it can. A name of the same screen is allowed: it overwrites that view.
 */
export function faultOf(
  name: string,
  views: readonly SavedView[],
  screen: string,
  username: string,
): string | null {
  const taken = views.find((view) => view.created_by === username && view.name === name.trim());
  return taken && taken.screen !== screen ? t.views.taken(taken.screen) : null;
}
