import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { type Entry, open, type ZipFile } from 'yauzl';
import { CommandFailure } from './failure';

interface ArchivedYaml {
  /** Path inside the archive. */
  name: string;
  text: string;
}

/** Limits against archives that unpack to more than they seem to hold. */
const MOST_YAML_BYTES = 4 * 1024 * 1024;
const MOST_ENTRIES = 100_000;
const MOST_BYTES = 2 * 1024 * 1024 * 1024;
const YAML = /(^|\/)[^/]+\.ya?ml$/i;

/**
 * Returns the YAML files of a .zip, or of a .wgn, which is a tar.gz or a zip. A wagon inside of a zip is not opened: its plugin.yaml
 * lies beside it.
 * @throws CommandFailure with the name of the archive
 */
export async function readYamlsOf(file: string): Promise<ArchivedYaml[]> {
  try {
    return isZip(file) ? await zipYamls(file) : await tarYamls(file);
  } catch (cause) {
    throw new CommandFailure(`${file}: the archive cannot be read: ${(cause as Error).message}`);
  }
}

function isZip(file: string): boolean {
  const start = Buffer.alloc(2);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, start, 0, 2, 0);
  } finally {
    closeSync(handle);
  }
  return start.toString('latin1') === 'PK';
}

async function tarYamls(file: string): Promise<ArchivedYaml[]> {
  const found: ArchivedYaml[] = [];
  const archive = extract();
  const reading = pipeline(createReadStream(file), createGunzip(), archive);
  // The loop below ends with the same error.
  reading.catch(() => undefined);
  let entries = 0;
  let bytes = 0;
  for await (const entry of archive) {
    const { name, size = 0, type } = entry.header;
    bytes += size;
    if (++entries > MOST_ENTRIES || bytes > MOST_BYTES) throw new Error('it holds too much');
    if (type === 'file' && YAML.test(name) && size <= MOST_YAML_BYTES)
      found.push({ name, text: await textOf(entry) });
    else entry.resume();
  }
  await reading;
  return found;
}

async function zipYamls(file: string): Promise<ArchivedYaml[]> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    open(file, { lazyEntries: true, validateEntrySizes: true }, (error, opened) =>
      error ? reject(error) : resolve(opened),
    ),
  );
  const found: ArchivedYaml[] = [];
  try {
    for (let count = 0; ; count++) {
      const entry = await nextEntry(zip);
      if (entry === null) return found;
      if (count >= MOST_ENTRIES) throw new Error('it holds too much');
      if (YAML.test(entry.fileName) && entry.uncompressedSize <= MOST_YAML_BYTES)
        found.push({ name: entry.fileName, text: await entryText(zip, entry) });
    }
  } finally {
    zip.close();
  }
}

function nextEntry(zip: ZipFile): Promise<Entry | null> {
  return new Promise((resolve, reject) => {
    const done = (finish: () => void): void => {
      zip.removeAllListeners();
      finish();
    };
    zip.on('entry', (entry) => done(() => resolve(entry)));
    zip.on('end', () => done(() => resolve(null)));
    zip.on('error', (error) => done(() => reject(error)));
    zip.readEntry();
  });
}

const entryText = async (zip: ZipFile, entry: Entry): Promise<string> =>
  textOf(
    await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
      zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream))),
    ),
  );

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
