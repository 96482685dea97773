/** What the links of a screen do for somebody who opens them in a tab of their own. */
import type { Page } from 'playwright-core';

export interface FoundLink {
  /** The whole address. */
  href: string;
  /** Something else lies above it: a pointer does not reach it. */
  isCovered: boolean;
  /** The page takes a Ctrl-click for itself, so that no tab opens. */
  isTaken: boolean;
}

/**
 * Ctrl-clicks every link of the content where a pointer would, and says whether the page left the click to the browser, which then
 * opens a tab. No tab opens here. As text: the tests know no names of browsers.
 */
const CTRL_CLICK_ALL = `[...document.querySelectorAll('main a[href]')].map((link) => {
  link.scrollIntoView({ block: 'center', inline: 'center' });
  const [box] = link.getClientRects();
  const hit = box && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  let isTaken = true;
  const last = (event) => {
    isTaken = event.defaultPrevented;
    event.preventDefault();
  };
  window.addEventListener('click', last, { once: true });
  (hit ?? link).dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey: true, metaKey: true }));
  window.removeEventListener('click', last);
  return { href: link.href, isCovered: hit?.closest('a') !== link, isTaken };
})`;

export const ctrlClickAll = async (page: Page): Promise<FoundLink[]> => await page.evaluate(CTRL_CLICK_ALL);

/** Ids in an address: links that differ in them alone lead to the same screen. */
const IDS =
  /(?<=\/(?:deployments|executions|blueprints|secrets|schedules|users|groups|tenants)\/)(?!new\b)[^/?]+/g;
/** Tabs of a screen are one place. */
const TABS =
  /(?<=\*)\/(?:nodes|topology|inputs|outputs|runs|events|drift|why|gantt|graph|log|overview|source|uses)$/;

/** The screen of an address, with the names of its parameters. */
export function screenOf(href: string): string {
  const { pathname, searchParams } = new URL(href);
  const path = pathname.replaceAll(IDS, '*').replace(TABS, '/tab');
  return [path, ...new Set(searchParams.keys())].join(' ');
}
