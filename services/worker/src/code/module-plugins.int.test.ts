// Placing of uploaded TypeScript plugins on the worker's disk.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { systemClock } from '@baton/kernel';
import { pack } from 'tar-stream';
import { createModulePlugins } from './module-plugins';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-placed-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Entry = { name: string; content?: string; type?: 'symlink' | 'directory' };

async function archive(entries: readonly Entry[]): Promise<string> {
  const tar = pack();
  for (const { name, content = '', type } of entries)
    if (type) tar.entry({ name, type, linkname: '/etc/passwd' });
    else tar.entry({ name }, content);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as unknown as AsyncIterable<Buffer>) chunks.push(chunk);
  const path = join(root, 'archive');
  writeFileSync(path, gzipSync(Buffer.concat(chunks)));
  return path;
}
const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

const about = (more: object = {}): Entry => ({ name: 'plugin.json', content: JSON.stringify(more) });
const plugins = () => createModulePlugins({ workRoot: root, clock: systemClock });
const modules = () => readdirSync(join(root, 'plugins/modules')).sort();

it('is unpacked once for all callers and workers, readable by every account', async () => {
  const path = await archive([
    { name: 'files/a/b.txt', content: 'x' },
    { name: 'index.js', content: 'code' },
    about({ secrets: ['token'] }),
  ]);
  let located = 0;
  const locate = async () => {
    located++;
    return path;
  };
  const own = plugins();
  const digest = digestOf(path);
  const found = await Promise.all([own.of(digest, locate), own.of(digest, locate)]);
  const folder = join(root, 'plugins/modules', digest);
  expect(found).toEqual([
    { kind: 'module', folder, secrets: ['token'] },
    { kind: 'module', folder, secrets: ['token'] },
  ]);
  expect(located).toBe(1);
  expect(readFileSync(join(folder, 'files/a/b.txt'), 'utf8')).toBe('x');
  for (const [name, mode] of [
    ['', 0o755],
    ['files/a', 0o755],
    ['index.js', 0o644],
  ] as const)
    expect(statSync(join(folder, name)).mode & 0o777).toBe(mode);
  await plugins().of(digest, () => Promise.reject(new Error('is there already')));
  expect(modules()).toEqual([digest]);
});

it('one that says nothing about secrets leaves that to its code', async () => {
  const path = await archive([about()]);
  expect(await plugins().of(digestOf(path), async () => path)).toMatchObject({ secrets: null });
});

it.each([
  [9229, true, { inspectPort: 9229 }],
  [9229, false, {}],
  [22, true, {}],
  ['9229', true, {}],
])(
  'a build that asks for a debugger on port %s of a worker that allows it (%s) gets %j',
  async (inspect, allowsInspect, port) => {
    const path = await archive([about({ development: { inspect } })]);
    const placed = createModulePlugins({ workRoot: root, clock: systemClock, allowsInspect });
    const found = await placed.of(digestOf(path), async () => path);
    expect(found).toEqual({ kind: 'module', folder: expect.any(String), secrets: null, ...port });
  },
);

it.each<[string, Entry[]]>([
  ['a path that leads out', [{ name: '../x', content: 'x' }]],
  ['an absolute path', [{ name: '/etc/x', content: 'x' }]],
  ['a link', [{ name: 'l', type: 'symlink' }]],
  ['a file twice', [about(), about()]],
])('%s is refused, and nothing is left', async (_what, entries) => {
  const path = await archive(entries);
  await expect(plugins().of(digestOf(path), async () => path)).rejects.toThrow(/cannot be unpacked/);
  expect(modules()).toEqual([]);
});

it('one whose bytes are not those of its digest does not run, and is fetched again at the next try', async () => {
  const path = await archive([about()]);
  const digest = digestOf(path);
  writeFileSync(join(root, 'other'), readFileSync(await archive([about({ secrets: ['more'] })])));
  const wrong = plugins().of(digest, async () => join(root, 'other'));
  await expect(wrong).rejects.toThrow(`expected ${digest}`);
  expect([modules(), existsSync(join(root, 'other'))]).toEqual([[], false]);
  expect(await plugins().of(digest, async () => await archive([about()]))).toMatchObject({ secrets: null });
});

it('what is unused for two weeks, and what a dead worker left, is removed', async () => {
  const at = (days: number) => new Date(systemClock.now() - days * 86_400_000);
  const place = async (secret: string): Promise<string> => {
    const path = await archive([about({ secrets: [secret] })]);
    const digest = digestOf(path);
    await plugins().of(digest, async () => path);
    return digest;
  };
  const [old, recent] = [await place('old'), await place('recent')];
  utimesSync(join(root, 'plugins/modules', old), at(15), at(15));
  utimesSync(join(root, 'plugins/modules', recent), at(13), at(13));
  const fresh = await place('new');
  expect(modules()).toEqual([fresh, recent].sort());
});
