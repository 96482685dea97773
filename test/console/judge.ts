/** What each screen of the console must keep, in each of its looks. */
import type { Page } from 'playwright-core';
import { areShotsWanted, axe, isTooWide, LOOKS, setLook, settle, shoot } from './browser';

/**
 * A screen in all looks: nothing that axe finds, nothing too wide. `BATON_SCREENSHOTS` has a picture taken of each look; without it
 * only of looks in which something was found. Dark changes colours alone, so only rules about colours are tried there.
 */
export async function judge(page: Page, name: string): Promise<void> {
  const found: string[] = [];
  for (const look of LOOKS) {
    await setLook(page, look);
    // Rows are measured anew for another width.
    await settle(page);
    if (areShotsWanted) await shoot(page, `${name}-${look}`);
    const faults = await axe(page, look === 'dark' ? 'colours' : 'all');
    if (await isTooWide(page)) faults.push('too wide');
    if (faults.length > 0 && !areShotsWanted) await shoot(page, `${name}-${look}`);
    found.push(...faults.map((line) => `${look}: ${line}`));
  }
  await setLook(page, 'light');
  expect(found).toEqual([]);
}
