import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskEvent } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { type LineJournal, openLineJournal } from './line-journal';

let dir: string;
let dropped: Record<string, number>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-lines-'));
  dropped = {};
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (bounds: { mostBytes?: number; segmentBytes?: number } = {}): Promise<LineJournal> =>
  openLineJournal({
    dir,
    log: silentLog,
    onDropped: (executionId, count) => {
      dropped[executionId] = (dropped[executionId] ?? 0) + count;
    },
    ...bounds,
  });
const line = (level: string, message: string): TaskEvent => ({
  taskId: 't',
  kind: 'log',
  level,
  logger: 'ctx.t',
  message,
  reportedAt: '2026-01-01T00:00:00.000Z',
});
const add = (journal: LineJournal, id: string, events: TaskEvent[], executionId = 'e') =>
  journal.add({ id, executionId, proof: 'p', count: events.length }, events);
const bytes = (): number => readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);

test('lines that were not taken are there for the next process, in their order', async () => {
  const journal = await open();
  for (const id of ['a', 'b', 'c']) await add(journal, id, [line('info', `of ${id}`)]);
  journal.taken('b');
  await journal.close();
  const next = await open();
  expect(next.left()).toEqual([
    { id: 'a', executionId: 'e', proof: 'p', count: 1 },
    { id: 'c', executionId: 'e', proof: 'p', count: 1 },
  ]);
  expect((await next.read('c')).map(({ message }) => message)).toEqual(['of c']);
  next.taken('a');
  next.taken('c');
  await next.close();
  expect(readdirSync(dir)).toEqual([]);
});

test('above the bound debug lines go first, the oldest first; each is counted and the files stay small', async () => {
  const bounds = { mostBytes: 60_000, segmentBytes: 10_000 };
  const journal = await open(bounds);
  const text = 'x'.repeat(400);
  for (let i = 0; i < 80; i++)
    await add(journal, `b${i}`, [line('debug', `${i} ${text}`), line('info', `${i} ${text}`)]);
  expect(bytes()).toBeLessThan(75_000);
  const last = await journal.read('b79');
  expect(last.map(({ level }) => level)).toEqual(['debug', 'info']);
  const levels = new Set<string>();
  let kept = 0;
  for (const { id } of journal.left()) {
    const events = await journal.read(id);
    kept += events.length;
    for (const { level } of events) levels.add(level);
  }
  expect(levels.has('info')).toBe(true);
  expect(journal.waiting).toBe(kept);
  expect(kept + dropped.e!).toBe(160);
  expect(journal.dropped).toBe(dropped.e);
  // A line of the level info is lost only where no older debug line is left.
  const ids = journal.left().map(({ id }) => Number(id.slice(1)));
  const firstDebug = await firstWithDebug(journal);
  expect(firstDebug).toBeGreaterThanOrEqual(Math.min(...ids));
  await journal.close();
});

async function firstWithDebug(journal: LineJournal): Promise<number> {
  for (const { id } of journal.left())
    if ((await journal.read(id)).some(({ level }) => level === 'debug')) return Number(id.slice(1));
  return Number.POSITIVE_INFINITY;
}
