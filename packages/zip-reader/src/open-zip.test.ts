import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { bufferSource, fileSource, openZip, ZipRefused } from './index';

async function zipOf(fill: (zip: ZipFile) => void, forceZip64Format = false): Promise<Buffer> {
  const zip = new ZipFile();
  fill(zip);
  zip.end({ forceZip64Format });
  return buffer(zip.outputStream);
}

const plain = (): Promise<Buffer> =>
  zipOf((zip) => {
    zip.addBuffer(Buffer.from('stored'), 'a/stored.txt', { compress: false });
    zip.addBuffer(Buffer.from('deflated '.repeat(1000)), 'a/deflated.txt');
    zip.addEmptyDirectory('empty/');
  });
const renamed = (zip: Buffer, name: string, other: string): Buffer =>
  Buffer.from(zip.toString('latin1').replaceAll(name, other), 'latin1');

describe('reads what is there', () => {
  test.each([false, true])('from memory and from a file, zip64: %p', async (zip64) => {
    const bytes = await zipOf((zip) => {
      zip.addBuffer(Buffer.from('stored'), 'a/stored.txt', { compress: false, forceZip64Format: zip64 });
      zip.addBuffer(Buffer.from('deflated '.repeat(100_000)), 'a/deflated.txt', { forceZip64Format: zip64 });
      zip.addEmptyDirectory('empty/');
    }, zip64);
    const folder = await mkdtemp(join(tmpdir(), 'zip-reader-'));
    await writeFile(join(folder, 'a.zip'), bytes);
    for (const source of [bufferSource(bytes), await fileSource(join(folder, 'a.zip'))]) {
      const zip = await openZip(source);
      expect([...zip.entries].map(([name, { size, isFolder }]) => [name, size, isFolder])).toEqual([
        ['a/stored.txt', 6, false],
        ['a/deflated.txt', 900_000, false],
        ['empty/', 0, true],
      ]);
      // At the same time.
      const [stored, deflated] = await Promise.all(
        ['a/stored.txt', 'a/deflated.txt'].map(async (name) => buffer(await zip.read(name))),
      );
      expect(stored!.toString()).toBe('stored');
      expect(deflated!.toString()).toBe('deflated '.repeat(100_000));
      await zip.close();
    }
    await rm(folder, { recursive: true });
  });

  test('a reader may stop early, and an entry that is not there is told', async () => {
    const zip = await openZip(bufferSource(await plain()));
    for await (const _ of await zip.read('a/deflated.txt')) break;
    await expect(zip.read('a/other.txt')).rejects.toThrow(
      new ZipRefused('it is not in the archive', 'a/other.txt'),
    );
  });
});

describe('refuses', () => {
  test.each([
    ['a/stored.txt', '../ored.txt..', 'invalid relative path'],
    ['a/stored.txt', '/etc/passwds', 'absolute path'],
    ['a/stored.txt', 'a\\stored.txt', 'invalid characters in fileName'],
    ['a/stored.txt', 'a//tored.txt', 'its name has a part that is empty'],
    ['a/stored.txt', './stored.txt', 'its name has a part that is empty, . or ..'],
    ['a/stored.txt', 'a/st\nred.txt', 'its name contains a control character'],
    ['a/stored.txt', 'C:stored.txt', 'absolute path'],
  ])('a name: %s as %p', async (name, other, expected) => {
    const bytes = renamed(await plain(), name, other.slice(0, name.length));
    await expect(openZip(bufferSource(bytes))).rejects.toThrow(expected);
  });

  test('the same name twice', async () => {
    const bytes = await zipOf((zip) => {
      zip.addBuffer(Buffer.from('1'), 'a/one.txt');
      zip.addBuffer(Buffer.from('2'), 'a/two.txt');
    });
    await expect(openZip(bufferSource(renamed(bytes, 'a/two.txt', 'a/one.txt')))).rejects.toThrow(
      'it is there twice',
    );
  });

  test('a link', async () => {
    const bytes = await zipOf((zip) => zip.addBuffer(Buffer.from('/etc/passwd'), 'link', { mode: 0o120777 }));
    await expect(openZip(bufferSource(bytes))).rejects.toThrow('it is no regular file');
  });

  test('content with another checksum, when it has been read', async () => {
    const bytes = renamed(await plain(), 'stored', 'stirid');
    const zip = await openZip(bufferSource(bytes));
    await expect(zip.read('a/stirid.txt').then(buffer)).rejects.toThrow(
      'entry a/stirid.txt: its checksum is wrong',
    );
  });

  test('more content than declared, at the first byte beyond', async () => {
    const bytes = await plain();
    // The size of the second entry in the central directory: 9000 becomes 8000.
    const at = bytes.lastIndexOf('a/deflated.txt') - 46 + 24;
    expect(bytes.readUInt32LE(at)).toBe(9000);
    bytes.writeUInt32LE(8000, at);
    const zip = await openZip(bufferSource(bytes));
    await expect(zip.read('a/deflated.txt').then(buffer)).rejects.toThrow(ZipRefused);
  });

  test('a size that no compression could reach, and a bomb', async () => {
    const bytes = await plain();
    bytes.writeUInt32LE(4_000_000_000, bytes.lastIndexOf('a/deflated.txt') - 46 + 24);
    await expect(openZip(bufferSource(bytes))).rejects.toThrow('more than 300 to one');
    const bomb = await zipOf((zip) => zip.addBuffer(Buffer.alloc(3 * 2 ** 20), 'zeros'));
    await expect(openZip(bufferSource(bomb), { ratioFreeBytes: 2 ** 20 })).rejects.toThrow(
      'more than 300 to one',
    );
    await expect(openZip(bufferSource(bomb), { maxEntryBytes: 2 ** 20 })).rejects.toThrow(
      'it declares 3145728 bytes',
    );
  });

  test('too many entries', async () => {
    await expect(openZip(bufferSource(await plain()), { maxEntries: 2 })).rejects.toThrow(
      'there are too many entries',
    );
  });

  test('a zip whose end is cut off', async () => {
    const bytes = await plain();
    await expect(openZip(bufferSource(bytes.subarray(0, -10)))).rejects.toThrow('it cannot be read as a zip');
  });
});
