import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notFound, systemClock } from '@baton/kernel';
import { createBlueprintFiles } from './blueprint-files';
import { createFileCache } from './file-cache';

function rig(maxBytes = 1_000) {
  const reads: string[] = [];
  let skewMs = 0;
  let digest = 'one';
  const catalog = {
    digest: async () => digest,
    namespaces: async () => ({ ns: 'imported', 'ns--inner': 'nested' }),
    listFiles: async (_tenant: string, id: string, folder: string) => [`${id} ${folder}`],
    async *readFile(_tenant: string, id: string, path: string) {
      reads.push(`${id}/${path}`);
      // The first of several prefixes, so that the path without them is there.
      if (/^(part--)?missing/.test(path) && path !== 'missing/c') throw notFound('file', path);
      if (path === 'part--missing/c') throw notFound('file', path);
      if (path === 'broken') {
        yield Buffer.from('half');
        throw notFound('file', path);
      }
      yield Buffer.from(`${id} ${path} ${digest}`);
    },
  };
  const clock = { now: () => systemClock.now() + skewMs, monotonic: () => systemClock.monotonic() };
  const dir = mkdtempSync(join(tmpdir(), 'baton-files-'));
  const cache = createFileCache({ clock, dir, maxBytes });
  const files = createBlueprintFiles({ catalog, cache });
  return {
    reads,
    files,
    cache,
    text: async (path: string, id = 'bp') => readFileSync(await files.locate('t', id, path), 'utf8'),
    later: (ms: number) => {
      skewMs = ms;
    },
    setDigest: (value: string) => {
      digest = value;
    },
  };
}

it('fetches a file once, also for several that ask at the same time, and anew for another archive', async () => {
  const { text, reads, setDigest } = rig();
  expect(await Promise.all([text('a'), text('a'), text('./a')])).toEqual([
    'bp a one',
    'bp a one',
    'bp a one',
  ]);
  setDigest('two');
  expect(await text('a', 'other')).toBe('other a two');
  expect(reads).toEqual(['bp/a', 'other/a']);
});

it('finds files without the prefix where the prefix is that of a file, and never outside of the blueprint', async () => {
  const { text, reads } = rig();
  expect(await text('part--missing--dir/b')).toBe('bp dir/b one');
  expect(await text('ns--part--missing/c')).toBe('imported missing/c one');
  await expect(text('part--missing')).rejects.toMatchObject({ code: 'not_found_error' });
  for (const path of ['missing--/x', 'ns--../x', 'ns--missing--../x'])
    await expect(text(path)).rejects.toMatchObject({ code: 'not_found_error' });
  expect(reads.filter((path) => path.includes('..') && !path.includes('missing'))).toEqual([]);
});

it('finds files of imported blueprints by their prefix', async () => {
  const { text, reads, files } = rig();
  const texts = [await text('ns--dir/b'), await text('ns--inner--c'), await text('none--dir/b')];
  expect(texts).toEqual(['imported dir/b one', 'nested c one', 'bp none--dir/b one']);
  expect(reads).toEqual(['imported/dir/b', 'nested/c', 'bp/none--dir/b']);
  expect([await files.list('t', 'bp', 'ns--dir/'), await files.list('t', 'bp', 'dir')]).toEqual([
    ['imported dir/'],
    ['bp dir'],
  ]);
});

it('never leaves its folder nor half a file', async () => {
  const { files, reads } = rig();
  for (const path of ['../a', '/etc/passwd', 'a/../../b'])
    for (const look of [files.locate, files.list])
      await expect(look('t', 'bp', path)).rejects.toMatchObject({ code: 'not_found_error' });
  await expect(files.locate('t', 'bp', 'broken')).rejects.toMatchObject({ code: 'not_found_error' });
  await expect(files.locate('t', 'bp', 'broken')).rejects.toMatchObject({ code: 'not_found_error' });
  expect(reads).toEqual(['bp/broken', 'bp/broken']);
});

it('stays below its size, oldest use first, but spares what may be in use', async () => {
  const { text, cache, reads, later } = rig(20);
  for (const path of ['a', 'b', 'c']) await text(path);
  expect(await cache.evict()).toBe(24);
  later(700_000);
  await text('a');
  expect(await cache.evict()).toBe(16);
  await text('a');
  expect(reads).toEqual(['bp/a', 'bp/b', 'bp/c']);
});
