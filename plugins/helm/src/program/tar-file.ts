/** Length of a block of a tar archive. */
const BLOCK = 512;

/** The content of the first file of a tar archive whose name `isWanted`; null: there is none. Nothing is written anywhere. */
export function fileOfTar(archive: Uint8Array, isWanted: (name: string) => boolean): Uint8Array | null {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const header = bytes.subarray(at, at + BLOCK);
    const name = header.subarray(0, 100).toString('utf8').replace(/\0.*$/s, '');
    if (name === '') return null;
    const size = Number.parseInt(
      header.subarray(124, 136).toString('utf8').replace(/\0.*$/s, '').trim() || '0',
      8,
    );
    if (!Number.isSafeInteger(size) || size < 0) return null;
    const isFile = header[156] === 0 || header[156] === 0x30;
    if (isFile && isWanted(name)) return bytes.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return null;
}
