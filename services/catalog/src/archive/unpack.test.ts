import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { systemClock } from '@baton/kernel';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused } from '../domain/entry-rules';
import { type TestEntry, tarOf, tgzOf, zipOf } from '../testing/archives';
import { spool } from './spool';
import { type Unpacked, unpackArchive } from './unpack';

const limits: ArchiveLimits = {
  maxArchiveBytes: 1 << 20,
  maxEntries: 50,
  maxTotalBytes: 20 << 20,
  maxRatio: 100,
  maxMs: 5000,
};
const sink = {
  async put(stream: Readable) {
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of stream) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
    return { digest: hash.digest('hex'), size };
  },
};

async function unpack(archive: Buffer, some: Partial<ArchiveLimits> = {}): Promise<Unpacked> {
  const spooled = await spool(Readable.from([archive], { objectMode: false }), 64 << 20);
  return unpackArchive(spooled, { ...limits, ...some }, sink, systemClock);
}

async function refusal(archive: Buffer, some: Partial<ArchiveLimits> = {}): Promise<ArchiveRefused> {
  const refused = await unpack(archive, some).then(
    () => new Error('was accepted'),
    (error: unknown) => error,
  );
  if (!(refused instanceof ArchiveRefused)) throw refused;
  return refused;
}

const good: TestEntry[] = [
  { name: 'bp/', type: 'directory' },
  { name: 'bp/blueprint.yaml', content: 'x: 1' },
  { name: 'bp/scripts/run.sh', content: '#!/bin/sh', mode: 0o755 },
];

describe.each([
  ['tar', tarOf],
  ['tar.gz', tgzOf],
  ['zip', async (entries: readonly TestEntry[]) => zipOf(entries)],
] as const)('%s', (kind, make) => {
  it('gives the files below the top folder', async () => {
    const unpacked = await unpack(await make(good));
    expect(unpacked).toMatchObject({ kind, topFolder: 'bp' });
    expect(unpacked.files.map((f) => [f.path, f.content?.toString()])).toEqual([
      ['blueprint.yaml', 'x: 1'],
      ['scripts/run.sh', '#!/bin/sh'],
    ]);
  });

  it.each<[string, TestEntry, RegExp]>([
    ['parent segments', { name: 'bp/../../evil.sh' }, /leads out/],
    ['backslash parents', { name: 'bp\\..\\..\\evil.sh' }, /leads out/],
    ['absolute path', { name: '/etc/cron.d/evil' }, /absolute path/],
    ['a drive', { name: 'C:\\evil' }, /names a drive/],
    ['a link out', { name: 'bp/out', type: 'symlink', link: '../../etc' }, /leads out/],
    ['an absolute link', { name: 'bp/out', type: 'symlink', link: '/etc/passwd' }, /leads out/],
    ['a device', { name: 'bp/dev', type: 'character-device' }, /neither file/],
    ['a pipe', { name: 'bp/pipe', type: 'fifo' }, /neither file/],
    ['a line feed in a name', { name: 'bp/a\nb' }, /control characters/],
    ['a name with a dot at its end', { name: 'bp/blueprint.yaml.' }, /dots or spaces/],
    ['a folder with a space at its end', { name: 'bp/scripts /run.sh' }, /dots or spaces/],
    ['another case and a space at the end', { name: 'bp/BLUEPRINT.yaml ' }, /dots or spaces/],
    ['the same file twice', { name: 'bp/blueprint.yaml', content: 'other' }, /occurs twice/],
    ['a file that is a folder too', { name: 'bp/blueprint.yaml/x' }, /occurs twice/],
  ])('refuses %s and names the entry', async (_what, entry, reason) => {
    const refused = await refusal(await make([...good, entry]));
    expect(refused.fault.message).toMatch(reason);
    expect(refused.fault.entry).toBe(entry.name);
  });

  it('refuses a name in another Unicode form, also in another letter case', async () => {
    for (const name of ['bp/cafe\u0301', 'bp/CAFE\u0301', 'bp/cafe\u0301/x']) {
      const refused = await refusal(await make([...good, { name: 'bp/caf\u00e9', content: 'x' }, { name }]));
      expect(refused.fault).toMatchObject({ message: expect.stringContaining('Unicode form'), entry: name });
    }
  });

  it('keeps files and folders whose names differ only in letter case', async () => {
    const cased = await make([
      ...good,
      { name: 'bp/Blueprint.YAML', content: 'x: 2' },
      { name: 'bp/SCRIPTS/run.sh', content: 'other' },
      { name: 'bp/Scripts', content: 'a file' },
      { name: 'bp/alias', type: 'symlink', link: 'SCRIPTS/run.sh' },
    ]);
    const files = new Map((await unpack(cased)).files.map((f) => [f.path, f.content?.toString()]));
    expect(Object.fromEntries(files)).toEqual({
      'blueprint.yaml': 'x: 1',
      'scripts/run.sh': '#!/bin/sh',
      'Blueprint.YAML': 'x: 2',
      'SCRIPTS/run.sh': 'other',
      Scripts: 'a file',
      alias: 'other',
    });
  });

  it('refuses to write through a link', async () => {
    const through = await make([
      ...good,
      { name: 'bp/l', type: 'symlink', link: 'scripts' },
      { name: 'bp/l/evil', content: 'x' },
    ]);
    expect((await refusal(through)).fault).toMatchObject({ entry: 'bp/l/evil' });
  });

  it('copies what links inside the folder name, files and folders', async () => {
    const linked = await make([
      ...good,
      { name: 'bp/alias.yaml', type: 'symlink', link: 'blueprint.yaml' },
      { name: 'bp/deep/tools', type: 'symlink', link: '../scripts' },
      { name: 'bp/dangling', type: 'symlink', link: 'nowhere' },
    ]);
    const files = new Map((await unpack(linked)).files.map((f) => [f.path, f.content?.toString()]));
    expect([...files.keys()].sort()).toEqual([
      'alias.yaml',
      'blueprint.yaml',
      'deep/tools/run.sh',
      'scripts/run.sh',
    ]);
    expect(files.get('alias.yaml')).toBe('x: 1');
  });

  it('refuses links in a circle', async () => {
    const circle = [
      { name: 'bp/a', type: 'symlink', link: 'b' },
      { name: 'bp/b', type: 'symlink', link: 'a' },
    ] as const;
    expect((await refusal(await make([...good, ...circle]))).message).toMatch(/circle/);
  });

  it('refuses more than one top folder, a file at the top and an empty archive', async () => {
    expect((await refusal(await make([...good, { name: 'second/x' }]))).fault.expected).toBe(
      'exactly one top-level folder',
    );
    expect((await refusal(await make([{ name: 'blueprint.yaml' }]))).message).toMatch(/not a folder/);
    expect((await refusal(await make([]))).message).toBeTruthy();
  });

  it('refuses too many entries, too many bytes and a bomb', async () => {
    const many = await make(Array.from({ length: 60 }, (_, i) => ({ name: `bp/f${i}`, content: 'x' })));
    expect((await refusal(many)).message).toMatch(/more than 50 entries/);
    const zeros = await make([{ name: 'bp/zeros', content: Buffer.alloc((kind === 'tar' ? 30 : 16) << 20) }]);
    const refused = await refusal(zeros);
    expect(refused.fault).toMatchObject({ entry: 'bp/zeros' });
    expect(refused.message).toMatch(kind === 'tar' ? /more than 20971520 bytes/ : /times its size/);
  });
});

it('keeps files beyond the inline size in the sink', async () => {
  const large = Buffer.alloc(100_000, 'ab');
  const [file] = (await unpack(await tgzOf([{ name: 'bp/large', content: large }]), { maxRatio: 1e6 })).files;
  expect(file).toMatchObject({
    size: 100_000,
    content: null,
    blobDigest: createHash('sha256').update(large).digest('hex'),
  });
});

it('refuses what is no archive, and a truncated one', async () => {
  expect((await refusal(Buffer.from('notanarchive'))).fault.expected).toMatch(/zip, tar/);
  expect((await refusal(gzipSync('not a tar'))).message).toBeTruthy();
  const whole = await tgzOf([{ name: 'bp/x', content: Buffer.alloc(50_000, 'abc') }]);
  expect((await refusal(whole.subarray(0, whole.length / 2))).message).toMatch(/cannot be read/);
});

it('hard links of a tar may only name the top folder', async () => {
  const inside = await tarOf([...good, { name: 'bp/h', type: 'link', link: 'bp/blueprint.yaml' }]);
  expect((await unpack(inside)).files.at(-1)).toMatchObject({ path: 'h' });
  const outside = await tarOf([...good, { name: 'bp/h', type: 'link', link: '../etc/shadow' }]);
  expect((await refusal(outside)).fault.entry).toBe('bp/h');
});
