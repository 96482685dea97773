/** Scripts that run in the page. They are strings: the bench, like the tests, is compiled without browser types. */
import type { WatchedPage } from '../../test/console/browser';
import { quantile } from '../harness/statistics';

export type Page = WatchedPage['page'];

/** Runs before the page's own code: records long tasks, interactions, and the first appearance of elements. */
export const PROBES = `
  performance.setResourceTimingBufferSize(5000);
  globalThis.bench = { long: [], interactions: new Map(), seen: {} };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) bench.long.push([startTime, duration]);
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId) bench.interactions.set(interactionId, Math.max(duration, bench.interactions.get(interactionId) ?? 0));
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
  bench.appeared = (selector) => new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector(selector)) return false;
      // Painted with the next frame.
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
      return true;
    };
    if (look()) return;
    const watch = new MutationObserver(() => { if (look()) watch.disconnect(); });
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  bench.answered = (part) => performance.getEntriesByType('resource').filter(({ name }) => name.includes(part)).at(-1)?.responseEnd ?? 0;
  for (const [name, selector] of Object.entries({ search: 'main input[type=search]', rows: '[role=row] [role=cell] a' }))
    bench.appeared(selector).then((at) => { bench.seen[name] = at; });
`;

export const read = async <T>(page: Page, script: string): Promise<T> => (await page.evaluate(script)) as T;

/** Returns the ms from opening the page to the first paint of the selector. */
export const appeared = async (page: Page, selector: string): Promise<number> =>
  await read(page, `bench.appeared(${JSON.stringify(selector)})`);

/** Returns the ms from opening the page to the end of the last answer from an address that contains `part`. */
export const answered = async (page: Page, part: string): Promise<number> =>
  await read(page, `bench.answered(${JSON.stringify(part)})`);

/** Returns the decoded bytes of the answers from addresses that contain `part`. */
export const sizeOf = async (page: Page, part: string): Promise<number> =>
  await read(
    page,
    `performance.getEntriesByType('resource').filter(({ name }) => name.includes(${JSON.stringify(part)})).reduce((sum, entry) => sum + entry.decodedBodySize, 0)`,
  );

/** Returns the long tasks since `sinceMs`, in ms each. */
export const longTasks = async (page: Page, sinceMs = 0): Promise<number[]> =>
  await read(page, `bench.long.filter(([at]) => at >= ${sinceMs}).map(([, ms]) => ms)`);

export const countOf = async (page: Page, selector: string): Promise<number> =>
  await page.locator(selector).count();

/**
 * Returns the 95th percentile of the time from an interaction to its next paint. Browsers do not report interactions shorter than
 * 16 ms; they count as 16 ms.
 */
export async function interactionP95(page: Page, made: number): Promise<number> {
  const slow = await read<number[]>(page, '[...bench.interactions.values()]');
  const rest = Array.from({ length: Math.max(0, made - slow.length) }, () => 16);
  return quantile([...slow, ...rest], 0.95);
}

const FRAMES = `
  bench.frames = { count: 0, from: performance.now(), most: 0, isOn: true };
  requestAnimationFrame(function next() {
    if (!bench.frames.isOn) return;
    bench.frames.count++;
    bench.frames.most = Math.max(bench.frames.most, document.querySelectorAll('[role=row]').length);
    requestAnimationFrame(next);
  });
`;
const STOP_FRAMES = `
  bench.frames.isOn = false;
  ({ fps: (bench.frames.count / (performance.now() - bench.frames.from)) * 1000, rows: bench.frames.most })
`;
const WHEELS = 90;
const WHEEL_PX = 240;

/** Returns the frames per second during scrolling over the element, and the maximum number of row elements. */
export async function scrolled(page: Page, selector: string): Promise<{ fps: number; rows: number }> {
  await page.locator(selector).first().hover();
  await page.evaluate(FRAMES);
  for (let i = 0; i < WHEELS; i++) await page.mouse.wheel(0, i < WHEELS / 2 ? WHEEL_PX : -WHEEL_PX);
  return await read(page, STOP_FRAMES);
}
