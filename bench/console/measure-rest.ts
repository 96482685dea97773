/** Rules for every screen: it reacts immediately, is idle when nothing happens, and sends no requests to other origins. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bars } from './bars';
import { appeared, interactionP95, type Page } from './probes';
import { TENANT, type World } from './world';

/** After this time a screen has loaded its content. */
const SETTLE_MS = 4_000;

const screens = ({ executionId, waitingId, deploymentId }: World): Readonly<Record<string, string>> => ({
  deployments: '/deployments',
  'deployment, nodes': `/deployments/${deploymentId}/nodes`,
  'deployment, topology': `/deployments/${deploymentId}/topology`,
  'deployment, runs': `/deployments/${deploymentId}/runs`,
  executions: '/executions',
  'execution, why': `/executions/${waitingId}/why`,
  'execution, timeline': `/executions/${executionId}/gantt`,
  'execution, tasks': `/executions/${executionId}/graph`,
  'execution, log': `/executions/${executionId}/log`,
});

export async function measureInteractions(world: World, bars: Bars): Promise<void> {
  for (const [name, path] of Object.entries(screens(world))) {
    const { page } = await world.open();
    try {
      await page.goto(`${world.edge.origin}${TENANT}${path}`);
      await appeared(page, 'main h1');
      await pause(SETTLE_MS / 2);
      const made = await interact(page);
      const value = await interactionP95(page, made);
      bars.judge({
        name: `interactions, p95: ${name}`,
        value,
        limit: { most: 200 },
        unit: 'ms',
        source: 'manager',
        note: `${made}`,
      });
    } catch (error) {
      bars.failed(`interactions, p95: ${name}`, error);
    } finally {
      await page.context().close();
    }
  }
}

/** Uses keys, check boxes, text inputs and clicks, as far as the screen has them; returns the number of interactions. */
async function interact(page: Page): Promise<number> {
  let made = 0;
  const press = async (key: string): Promise<void> => {
    await page.keyboard.press(key);
    made += 1;
  };
  for (let i = 0; i < 12; i++) await press('Tab');
  // Always the first one: rows come and go.
  const box = page.locator('main input[type=checkbox]:visible').first();
  for (let i = 0; i < 3 && (await box.isVisible()); i++) {
    await box.focus();
    await press('Space');
    await press('Space');
  }
  for (const button of (await page.locator('main [aria-expanded]:visible').all()).slice(0, 3)) {
    await button.click();
    made += 1;
  }
  const text = page.locator('main input[type=search]:visible').first();
  if ((await text.count()) > 0) {
    await text.click();
    await page.keyboard.type('n1');
    made += 3;
    await page.keyboard.press('Escape');
  }
  await page.locator('main h1').click();
  for (const key of ['j', 'j', 'k', 'PageDown', 'End', 'Home']) await press(key);
  return made;
}

export async function measureRest(world: World, bars: Bars, restMs: number): Promise<void> {
  const opened: Page[] = [];
  try {
    for (const path of Object.values(screens(world))) {
      const { page } = await world.open();
      opened.push(page);
      await page.goto(`${world.edge.origin}${TENANT}${path}`);
      await appeared(page, 'main h1');
    }
    await pause(SETTLE_MS);
    const before = world.edge.asked.length;
    await pause(restMs);
    const asked = world.edge.asked.slice(before).filter(({ isStream }) => !isStream);
    bars.judge({
      name: `idle: requests of ${opened.length} screens besides streams`,
      value: asked.length,
      limit: { most: 0 },
      unit: '',
      source: 'manager',
      note: [`${restMs / 1000} s`, ...new Set(asked.map(({ path }) => path.split('?')[0]))].join(' '),
    });
  } finally {
    for (const page of opened) await page.context().close();
  }
}

export function judgeOffences(world: World, bars: Bars): void {
  const offences = world.offences();
  for (const [name, begin] of [
    ['requests to foreign origins', 'foreign'],
    ['reports of the content policy', 'policy'],
    ['errors that nobody caught', 'error'],
  ] as const) {
    const found = offences.filter((one) => one.startsWith(begin));
    bars.judge({
      name,
      value: found.length,
      limit: { most: 0 },
      unit: '',
      source: 'manager',
      note: found[0],
    });
  }
}
