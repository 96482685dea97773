/** The timeline of ten thousand tasks, the log of a million events, the topology of a thousand nodes. */
import { rounded } from '../harness/statistics';
import type { Bars } from './bars';
import { eventText } from './edge';
import { answered, appeared, countOf, longTasks, read, scrolled, sizeOf } from './probes';
import { TENANT, type World } from './world';

export async function measureTimeline(world: World, bars: Bars): Promise<void> {
  const { page } = await world.open();
  try {
    await page.goto(`${world.edge.origin}${TENANT}/executions/${world.executionId}/gantt`);
    const paintedMs = await appeared(page, '[role=table] [role=row] [role=cell] strong');
    const answeredMs = await answered(page, '/graph');
    // Also shows the engine's own tasks, so that all tasks are drawn.
    await page.locator('main input[type=checkbox]').first().uncheck();
    const tasks = await read<string>(
      page,
      `document.querySelector('[role=table]').getAttribute('aria-rowcount')`,
    );
    const name = `timeline of ${Number(tasks) - 1} tasks`;
    const source = 'manager' as const;
    bars.judge({
      name: `${name}: first rows, after the data`,
      value: paintedMs - answeredMs,
      limit: { most: 1500 },
      unit: 'ms',
      source,
      note: `${rounded(paintedMs, 0)} ms from the address, ${rounded((await sizeOf(page, '/graph')) / 2 ** 20, 1)} MB of JSON`,
    });
    const { fps } = await scrolled(page, '[role=table] [role=rowgroup]:last-of-type');
    bars.judge({
      name: `${name}: frames a second while panning`,
      value: fps,
      limit: { least: 50 },
      unit: 'fps',
      source,
    });
  } finally {
    await page.context().close();
  }
}

export async function measureTopology(world: World, bars: Bars): Promise<void> {
  const { page } = await world.open();
  const source = 'manager' as const;
  const name = `topology of ${world.sizes.nodes} nodes`;
  try {
    await page.goto(`${world.edge.origin}${TENANT}/deployments/${world.deploymentId}/topology`);
    const paintedMs = await appeared(page, 'svg[role=img] g');
    bars.judge({ name: `${name}: drawn`, value: paintedMs, limit: { most: 2500 }, unit: 'ms', source });
    const tasks = await longTasks(page, await answered(page, '/topology'));
    bars.judge({
      name: `${name}: main thread blocked at most`,
      value: Math.max(0, ...tasks),
      limit: { most: 200 },
      unit: 'ms',
      source,
      note: `${tasks.length} long tasks after the answer`,
    });
    const elements = await countOf(page, 'svg[role=img] g');
    bars.judge({ name: `${name}: node elements`, value: elements, limit: { most: 300 }, unit: '', source });
  } finally {
    await page.context().close();
  }
}

const LINES = 20_000;
const LINE = 'ol > li';

export async function measureLog(world: World, bars: Bars): Promise<void> {
  const { page } = await world.open();
  try {
    await page.goto(`${world.edge.origin}${TENANT}/executions/${world.executionId}/gantt`);
    await appeared(page, '[role=table] [role=row] [role=cell]');
    const fromMs = await read<number>(page, 'performance.now()');
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    const paintedMs = await appeared(page, LINE);
    bars.judge({
      name: `log of ${world.sizes.events} events: opens at its tail`,
      value: paintedMs - fromMs,
      limit: { most: 1000 },
      unit: 'ms',
      source: 'manager',
    });
    world.edge.stubs.set('/events/stream', (response) => {
      for (let i = 1; i <= LINES; i++)
        response.write(eventText('event', i, { type: 'cloudify_log', level: 'info', message: `line ${i}` }));
      response.end(eventText('end', LINES, { status: 'terminated', error: null }));
    });
    await page.reload();
    await page.getByText(`line ${LINES}`, { exact: true }).waitFor();
    const said = await page
      .getByText(/[\d,]+ lines$/)
      .first()
      .textContent();
    bars.judge({
      name: `log of ${LINES} lines: events in memory`,
      value: Number(/([\d,]+) lines$/.exec(said ?? '')?.[1]?.replaceAll(',', '')),
      limit: { most: 2000 },
      unit: '',
      source: 'stub',
      note: `${await countOf(page, LINE)} of them elements`,
    });
  } finally {
    world.edge.stubs.clear();
    await page.context().close();
  }
}
