/** The shell and the list of deployments: cold start, scroll, jump, search. */
import { median, rounded } from '../harness/statistics';
import type { Bars } from './bars';
import { answered, appeared, countOf, type Page, read, scrolled } from './probes';
import { TENANT, type World } from './world';

const LATENCY_MS = 40;
const PATH = `${TENANT}/deployments`;
/** Requests after the rows do not count as waiting time; they are counted during this time. */
const AFTER_MS = 2_000;
const ROWS = '[data-rows]';

interface Cold {
  fcpMs: number;
  usableMs: number;
  rowsMs: number;
  requests: number;
  requestsAfter: number;
  jsonBytes: number;
  assetBytes: number;
}

/** Opens the page like a returning user with an empty cache. */
async function openCold(world: World): Promise<Cold> {
  const { page } = await world.open({ latencyMs: LATENCY_MS });
  try {
    const before = world.edge.asked.length;
    const count = (): number => world.edge.asked.slice(before).filter(({ isStream }) => !isStream).length;
    await page.goto(`${world.edge.origin}${PATH}`);
    const rowsMs = await appeared(page, '[role=row] [role=cell] a');
    const requests = count();
    const jsonBytes = await read<number>(page, sizeOf('/api/', 'decodedBodySize'));
    const assetBytes = await read<number>(page, sizeOf('/ui/', 'encodedBodySize'));
    await page.waitForTimeout(AFTER_MS);
    return {
      fcpMs: await read(page, `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`),
      usableMs: await read(page, 'bench.seen.search'),
      rowsMs,
      requests,
      requestsAfter: count(),
      jsonBytes,
      assetBytes,
    };
  } finally {
    await page.context().close();
  }
}

const sizeOf = (part: string, size: 'decodedBodySize' | 'encodedBodySize'): string =>
  `performance.getEntriesByType('resource').filter(({ name }) => name.includes('${part}') && !name.includes('/stream'))
    .reduce((sum, entry) => sum + entry.${size}, 0)`;

export async function measureCold(world: World, bars: Bars, rounds: number): Promise<void> {
  const found: Cold[] = [];
  for (let i = 0; i < rounds; i++) found.push(await openCold(world));
  const middle = (pick: (one: Cold) => number): number => median(found.map(pick));
  const worst = (pick: (one: Cold) => number): number => Math.max(...found.map(pick));
  const source = 'manager' as const;
  const note = `median of ${rounds}, ${LATENCY_MS} ms round trip`;
  const ms = { unit: 'ms', source, note };
  const rows = `${world.sizes.deployments} deployments`;
  bars.judge({
    name: 'shell, cold: first contentful paint',
    value: middle((c) => c.fcpMs),
    limit: { most: 1200 },
    ...ms,
  });
  bars.judge({ name: 'shell, cold: usable', value: middle((c) => c.usableMs), limit: { most: 2000 }, ...ms });
  bars.judge({
    name: 'shell and list page: files on the wire',
    value: worst((c) => c.assetBytes) / 1024,
    limit: { most: 240 },
    unit: 'KB',
    source,
  });
  bars.judge({ name: `${rows}: first rows`, value: middle((c) => c.rowsMs), limit: { most: 1500 }, ...ms });
  bars.judge({
    name: `${rows}: requests until the first rows, besides streams`,
    value: worst((c) => c.requests),
    limit: { most: 3 },
    unit: '',
    source,
    note: `${worst((c) => c.requestsAfter)} after ${AFTER_MS / 1000} s more`,
  });
  bars.judge({
    name: `${rows}: JSON until the first rows`,
    value: worst((c) => c.jsonBytes) / 1024,
    limit: { most: 60 },
    unit: 'KB',
    source,
    note: 'not compressed',
  });
}

export async function measureList(world: World, bars: Bars): Promise<void> {
  const { page } = await world.open();
  try {
    await page.goto(`${world.edge.origin}${PATH}`);
    await appeared(page, '[role=row] [role=cell] a');
    const { fps, rows } = await scrolled(page, ROWS);
    const about = { source: 'manager' as const };
    bars.judge({
      name: 'list: frames a second while scrolling',
      value: fps,
      limit: { least: 50 },
      unit: 'fps',
      ...about,
    });
    const jump = await jumped(page, Math.floor(world.sizes.deployments * 0.9));
    bars.judge({
      name: 'list: row elements at most',
      value: Math.max(rows, await countOf(page, '[role=row]')),
      limit: { most: 80 },
      unit: '',
      ...about,
    });
    bars.judge({ ...jump, limit: { most: 500 }, unit: 'ms', ...about });
    bars.judge({ ...(await searched(page, world)), limit: { most: 500 }, unit: 'ms', ...about });
  } finally {
    await page.context().close();
  }
}

interface Found {
  name: string;
  value: number;
  note: string;
}

/** Measures a distant row, from the answer that contains it to its paint. */
async function jumped(page: Page, row: number): Promise<Found> {
  const fromMs = await read<number>(
    page,
    `document.querySelector('${ROWS}').scrollTop = ${row} * (document.querySelector('[role=row][aria-rowindex="2"]')?.offsetHeight || 44); performance.now()`,
  );
  // Row 1 is the header.
  const paintedMs = await appeared(page, `[role=row][aria-rowindex="${row + 5}"] a`);
  const answeredMs = await answered(page, '/deployments?');
  return {
    name: `list: jump to row ${row}, after the answer`,
    value: paintedMs - answeredMs,
    note: `${rounded(paintedMs - fromMs, 0)} ms in all`,
  };
}

async function searched(page: Page, world: World): Promise<Found> {
  const wanted = `d${String(Math.floor(world.sizes.deployments / 2)).padStart(6, '0')}`;
  await page.locator('main input[type=search]').first().fill(wanted);
  const fromMs = await read<number>(page, 'performance.now()');
  const paintedMs = await appeared(page, `[role=row] a[href*="${wanted}"]`);
  const answeredMs = await answered(page, `/deployments?`);
  return {
    name: 'list: search, after the answer',
    value: paintedMs - answeredMs,
    note: `${rounded(paintedMs - fromMs, 0)} ms in all`,
  };
}
