/** Files that the API accepts as a plugin: a wagon, a zip, or a zip of a wagon and its yaml files, which is created here. */

export interface PluginFile {
  name: string;
  bytes: Uint8Array;
}

const isYaml = (name: string): boolean => /\.ya?ml$/i.test(name);

/** Whether these files form a plugin: one archive alone, or a wagon with yaml files. */
export function isPluginOf(names: readonly string[]): boolean {
  const archives = names.filter((name) => !isYaml(name));
  return archives.length === 1 && (names.length === 1 || /\.wgn$/i.test(archives[0]!));
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

export function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = (c >>> 8) ^ TABLE[(c ^ byte) & 0xff]!;
  return (c ^ 0xffffffff) >>> 0;
}

/** Encodes numbers in little-endian order: `[value, bytes]` each. */
function little(...parts: [value: number, bytes: number][]): Uint8Array<ArrayBuffer> {
  const bytes = parts.flatMap(([value, size]) =>
    Array.from({ length: size }, (_, i) => Math.floor(value / 2 ** (8 * i)) & 0xff),
  );
  return Uint8Array.from(bytes);
}

/** 1980-01-01 in DOS format: a zip requires a date. */
const DAY = 0x21;
/** Flag of zip: names are UTF-8. */
const FLAGS = 0x800;

/** Creates a zip without compression: a wagon is compressed already. */
export function zipOf(files: readonly PluginFile[]): Blob {
  const parts: BlobPart[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, bytes } of files) {
    const nameBytes = new TextEncoder().encode(name);
    const { length } = bytes;
    const about: [number, number][] = [
      [20, 2],
      [FLAGS, 2],
      [0, 2],
      [0, 2],
      [DAY, 2],
      [crc32(bytes), 4],
      [length, 4],
      [length, 4],
      [nameBytes.length, 2],
      [0, 2],
    ];
    const head = little([0x04034b50, 4], ...about);
    parts.push(head, nameBytes, bytes as Uint8Array<ArrayBuffer>);
    directory.push(
      little([0x02014b50, 4], [20, 2], ...about, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]),
      nameBytes,
    );
    offset += head.length + nameBytes.length + length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = little(
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [files.length, 2],
    [files.length, 2],
    [size, 4],
    [offset, 4],
    [0, 2],
  );
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}
