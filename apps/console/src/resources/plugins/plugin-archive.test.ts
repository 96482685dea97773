import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, isPluginOf, zipOf } from './plugin-archive';

test.each([
  [['a.wgn'], true],
  [['a.zip'], true],
  [['a.wgn', 'plugin.yaml', 'plugin_1_5.yml'], true],
  [['a.zip', 'plugin.yaml'], false],
  [['plugin.yaml'], false],
  [['a.wgn', 'b.wgn'], false],
  [[], false],
])('%j make a plugin: %s', (names, is) => expect(isPluginOf(names)).toBe(is));

test('crc32 is that of zips', () => expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926));

test('a zip is read by what others use', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-'));
  try {
    const files = [
      { name: 'a.wgn', bytes: Uint8Array.from({ length: 300 }, (_, i) => i & 0xff) },
      { name: 'plügin.yaml', bytes: new TextEncoder().encode('plugins: {}\n') },
    ];
    const path = join(folder, 'plugin.zip');
    writeFileSync(path, Buffer.from(await zipOf(files).arrayBuffer()));
    const read =
      'import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print([(i.filename, i.file_size) for i in z.infolist()])';
    expect(
      execFileSync('python3', ['-c', read, path], {
        encoding: 'utf8',
        env: { ...process.env, PYTHONUTF8: '1' },
      }).trim(),
    ).toBe("[('a.wgn', 300), ('plügin.yaml', 12)]");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
