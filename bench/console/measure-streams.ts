/** Streams: many events, over a long time, and with cut connections. */
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../harness/statistics';
import type { Bars } from './bars';
import { eventText, type PlayStream } from './edge';
import { appeared, type Page, read } from './probes';
import { TENANT, type World } from './world';

const PER_SECOND = 500;
const TICK_MS = 20;
const WATCHED_MS = 10_000;

/** Sends changes of these executions, 500 a second. The progress of the first one contains its send time, in ms since `fromMs`. */
function manyChanges(ids: readonly string[], fromMs: number): PlayStream {
  return (response) => {
    let position = 0;
    response.write(eventText('ready', 'a-0', {}));
    const timer = setInterval(() => {
      for (let i = 0; i < (PER_SECOND * TICK_MS) / 1000; i++) {
        const finished_operations = Math.round(Date.now() - fromMs);
        const id = ids[position % ids.length]!;
        const more = { status: 'started', total_operations: 100_000_000, finished_operations };
        response.write(
          eventText('change', `a-${++position}`, { kind: 'executions', id, operation: 'changed', ...more }),
        );
      }
    }, TICK_MS);
    response.on('close', () => clearInterval(timer));
  };
}

const WATCH_COMMITS = (fromMs: number): string => `
  bench.commits = { count: 0, lags: [], from: performance.now() };
  bench.watch = new MutationObserver((changes) => {
    bench.commits.count++;
    const now = Date.now() - ${fromMs};
    for (const { attributeName, target } of changes)
      if (attributeName === 'aria-valuenow') bench.commits.lags.push(now - Number(target.getAttribute('aria-valuenow')));
  });
  bench.watch.observe(document.querySelector('[role=table]'), { subtree: true, attributes: true, childList: true, characterData: true });
`;

/** Opens the list of executions with a stream played by the edge. */
async function openBusy(world: World, fromMs: number): Promise<Page> {
  const { page } = await world.open();
  await page.goto(`${world.edge.origin}${TENANT}/executions`);
  await appeared(page, '[role=row] [role=cell] a');
  const ids = await read<string[]>(
    page,
    `[...document.querySelectorAll('[role=row] a[href*="/executions/"]')].map(({ pathname }) => pathname.split('/').at(-1)).slice(0, 15)`,
  );
  world.edge.stubs.set('/changes/stream', manyChanges(ids, fromMs));
  await page.reload();
  await appeared(page, '[role=progressbar]');
  return page;
}

export async function measureBusyStream(world: World, bars: Bars, lifeMs: number): Promise<void> {
  const fromMs = Date.now();
  const page = await openBusy(world, fromMs);
  try {
    await page.evaluate(WATCH_COMMITS(fromMs));
    await pause(WATCHED_MS);
    const found = await read<{ perSecond: number; lags: number[] }>(
      page,
      `bench.watch.disconnect(); ({ perSecond: (bench.commits.count / (performance.now() - bench.commits.from)) * 1000, lags: bench.commits.lags })`,
    );
    const about = { source: 'stub' as const };
    const name = `stream of ${PER_SECOND} events a second`;
    bars.judge({
      name: `${name}: commits a second`,
      value: found.perSecond,
      limit: { most: 10 },
      unit: '',
      ...about,
    });
    bars.judge({
      name: `${name}: lag, p95`,
      value: quantile(found.lags, 0.95),
      limit: { most: 500 },
      unit: 'ms',
      ...about,
      note: `${found.lags.length} rows looked at`,
    });
    await measureMemory(page, bars, lifeMs);
  } finally {
    world.edge.stubs.clear();
    await page.context().close();
  }
}

interface Memory {
  heapMb: number;
  nodes: number;
}

async function measureMemory(page: Page, bars: Bars, lifeMs: number): Promise<void> {
  const debug = await page.context().newCDPSession(page);
  await debug.send('HeapProfiler.enable');
  const collected = async (): Promise<Memory> => {
    await debug.send('HeapProfiler.collectGarbage');
    const { usedSize } = await debug.send('Runtime.getHeapUsage');
    const { nodes } = await debug.send('Memory.getDOMCounters');
    return { heapMb: usedSize / 2 ** 20, nodes };
  };
  const inPage = (): Promise<number> => read(page, `document.querySelectorAll('*').length`);
  const before = await collected();
  const elementsBefore = await inPage();
  await pause(lifeMs);
  const after = await collected();
  const about = { source: 'stub' as const, note: `${lifeMs / 1000} s` };
  bars.judge({
    name: 'stream: growth of the heap',
    value: after.heapMb - before.heapMb,
    limit: { most: 20 },
    unit: 'MB',
    ...about,
  });
  // Text nodes and comments belong to elements: nodes beyond this estimate are detached from the page.
  const detached = after.nodes - before.nodes - 3 * Math.max(0, (await inPage()) - elementsBefore);
  bars.judge({
    name: 'stream: nodes more than before',
    value: Math.max(0, detached),
    limit: { most: 100 },
    unit: '',
    ...about,
  });
}

const CUTS = 20;
const NUMBERED = 1_500;
const NUMBER_MS = 8;

/** Sends numbered events to their end; the first connections are cut in the middle. `cuts.left` counts the remaining cuts. */
function cutStream(cuts: { left: number }): PlayStream {
  const bornMs = Date.now();
  const born = (): number => Math.min(NUMBERED, Math.floor((Date.now() - bornMs) / NUMBER_MS));
  return (response, lastEventId) => {
    let told = Number(lastEventId) || 0;
    let here = 0;
    const timer = setInterval(() => {
      while (told < born() && !response.destroyed) {
        told += 1;
        here += 1;
        response.write(
          eventText('event', told, { type: 'cloudify_log', level: 'info', message: `line ${told}` }),
        );
        // In the middle of the next event, so that a part of it is lost.
        if (cuts.left > 0 && here === 25) {
          cuts.left -= 1;
          response.write(eventText('event', told + 1, { message: 'cut' }).slice(0, 30));
          setTimeout(() => response.destroy(), 5);
          clearInterval(timer);
          return;
        }
      }
      if (told < NUMBERED) return;
      clearInterval(timer);
      response.end(eventText('end', told, { status: 'terminated', error: null }));
    }, NUMBER_MS);
    response.on('close', () => clearInterval(timer));
  };
}

const ALL_LINES = `(async () => {
  const box = document.querySelector('ol').parentElement;
  const seen = [];
  let last = '';
  for (box.scrollTop = 0; ; box.scrollTop += box.clientHeight / 2) {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    for (const line of document.querySelectorAll('ol > li')) {
      const number = Number(/line (\\d+)/.exec(line.textContent)?.[1]);
      seen.push([Number(line.dataset.index), number]);
    }
    const place = box.scrollTop + '/' + box.scrollHeight;
    if (place === last) break;
    last = place;
  }
  const byIndex = new Map(seen);
  return [...byIndex.keys()].sort((a, b) => a - b).map((index) => byIndex.get(index));
})()`;

export async function measureCuts(world: World, bars: Bars): Promise<void> {
  const { page } = await world.open();
  const cuts = { left: CUTS };
  world.edge.stubs.set('/events/stream', cutStream(cuts));
  try {
    await page.goto(`${world.edge.origin}${TENANT}/executions/${world.executionId}/log`);
    await page.getByText(`line ${NUMBERED}`, { exact: true }).waitFor({ timeout: 60_000 });
    // Scrolls up, because reading all lines must not follow the end.
    await page.mouse.move(600, 500);
    await page.mouse.wheel(0, -400);
    const lines = await read<number[]>(page, ALL_LINES);
    const missing = NUMBERED - new Set(lines).size;
    const about = { unit: '', source: 'stub' as const, note: `${CUTS - cuts.left} cuts, ${NUMBERED} events` };
    bars.judge({
      name: 'cut connections: missing events',
      value: missing + cuts.left,
      limit: { most: 0 },
      ...about,
    });
    bars.judge({
      name: 'cut connections: events twice or out of order',
      value: lines.filter((line, i) => i > 0 && line <= lines[i - 1]!).length,
      limit: { most: 0 },
      ...about,
    });
  } finally {
    world.edge.stubs.clear();
    await page.context().close();
  }
}
