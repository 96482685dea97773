/** Every screen without a mouse: Tab comes to all that can be used, shows where it is, and gets out again. */
import type { Page } from 'playwright-core';
import { settle } from './browser';
import type { Stage } from './stage';

/** What a person can use; of a group that arrows move in (tabs, options), the one that Tab comes to stands for all. */
const MARK = `
  globalThis.keyboard = {
    name: (one) => one.tagName.toLowerCase() + ' ' + (one.getAttribute('aria-label') || one.innerText || one.name || one.id || '').trim().slice(0, 40),
    isSeen: (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && one.getClientRects().length > 0,
    usable: () => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter((one) =>
      keyboard.isSeen(one) && !one.disabled && one.tabIndex >= 0 && !one.closest('[inert], [aria-hidden="true"]') &&
      !(one.type === 'radio' && !one.checked)),
    /** Whether the focus can be told from no focus: an outline, or a shadow or border that it alone has. */
    look: (one) => [undefined, '::after'].map((part) => {
      const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(one, part);
      return [outlineStyle === 'none' || outlineWidth === '0px' ? '' : outlineStyle + outlineWidth, boxShadow, borderColor, backgroundColor].join(' ');
    }).join(' '),
    looks: new Map(), reached: new Set(), unseen: [],
  };
  for (const one of keyboard.usable()) keyboard.looks.set(one, keyboard.look(one.closest('label') ?? one) + keyboard.look(one));
`;

/** After a Tab: notes where the focus is; false: it has come back, or has left the page. */
const STEP = `(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return false;
  // A field of a date has stops of its own.
  if (one === keyboard.last) return true;
  keyboard.last = one;
  if (keyboard.reached.has(one)) return false;
  keyboard.reached.add(one);
  const before = keyboard.looks.get(one);
  const now = keyboard.look(one.closest('label') ?? one) + keyboard.look(one);
  const ring = [one, one.parentElement, one.closest('label')].some((of) => of && of.matches(':focus-within') && getComputedStyle(of).outlineStyle !== 'none');
  if (before === now && !ring) keyboard.unseen.push(keyboard.name(one));
  return true;
})()`;

/** In these arrows move on, so Tab stops once. */
const GROUPS = '[role=tablist], [role=radiogroup], [role=toolbar], [role=grid], [role=listbox]';
const MISSED = `(() => {
  const entered = new Set([...keyboard.reached].map((one) => one.closest('${GROUPS}')).filter(Boolean));
  return keyboard.usable().filter((one) => !keyboard.reached.has(one) && !entered.has(one.closest('${GROUPS}'))).map(keyboard.name);
})()`;

/** Where the focus was last is where Tab goes on from: this makes it the whole page. */
const TO_TOP =
  'document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex"); scrollTo(0, 0)';
const MOST_STEPS = 250;

interface Walk {
  missed: string[];
  unseen: string[];
  steps: number;
}

/** Walks over the page until it did not change meanwhile: what came late was not walked over. */
async function walk(page: Page): Promise<Walk> {
  await settle(page);
  await page.evaluate(TO_TOP);
  await page.evaluate(MARK);
  let steps = 0;
  while (steps < MOST_STEPS) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate(STEP))) break;
    steps++;
  }
  if (!(await page.evaluate('keyboard.usable().every((one) => keyboard.looks.has(one))')))
    return await walk(page);
  const missed = (await page.evaluate(MISSED)) as string[];
  const unseen = (await page.evaluate('keyboard.unseen')) as string[];
  return { missed, unseen, steps };
}

export function keyboardPart(shared: () => Stage): void {
  const page = (): Page => shared().page;
  afterEach(async () => expect(await shared().offences()).toEqual([]));

  test.each([
    ['/', 'Overview'],
    ['/deployments', 'Deployments'],
    ['/deployments/web-shop/nodes', 'web-shop'],
    ['/deployments/web-shop/topology', 'web-shop'],
    ['/deployments/new?blueprint_id=hello', 'New deployment'],
    ['/executions', 'Executions'],
    ['/events', 'Events'],
    ['/blueprints', 'Blueprints'],
    ['/blueprints/hello/source', 'hello'],
    ['/secrets', 'Secrets'],
    ['/plugins', 'Plugins'],
    ['/schedules', 'Schedules'],
    ['/webhooks', 'Webhooks'],
    ['/triggers', 'Triggers'],
    ['/admin/agents', 'Agents'],
    ['/admin/users', 'Users'],
    ['/admin/service-accounts', 'Service accounts'],
    ['/admin/identity-providers', 'Identity providers'],
    ['/admin/snapshots', 'Snapshots'],
    ['/admin/config', 'Configuration'],
  ])('%s', async (path, heading) => {
    await shared().go(path);
    await page().getByRole('heading', { level: 1 }).filter({ hasText: heading }).first().waitFor();
    await page().locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    const { missed, unseen, steps } = await walk(page());
    expect({ missed, unseen }).toEqual({ missed: [], unseen: [] });
    // Something was walked over: the navigation alone has more.
    expect(steps).toBeGreaterThan(10);
  });
}
