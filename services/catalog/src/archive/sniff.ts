export type ArchiveKind = 'zip' | 'tar' | 'tar.gz' | 'tar.bz2';

/** Number of leading bytes that `sniffArchive` needs. */
export const SNIFF_BYTES = 512;

/** Returns the kind of an archive by its content (reference/rest-api.md 5.1); null when it is none of the four. */
export function sniffArchive(head: Buffer): ArchiveKind | null {
  if (head.length >= 4 && head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5))
    return 'zip';
  if (head.length >= 3 && head[0] === 0x1f && head[1] === 0x8b && head[2] === 8) return 'tar.gz';
  if (head.length >= 4 && head.toString('latin1', 0, 3) === 'BZh' && head[3]! >= 0x31 && head[3]! <= 0x39)
    return 'tar.bz2';
  return isTarHeader(head) ? 'tar' : null;
}

/** Whether the bytes are a tar header of any version: its checksum fits (the oldest ones have no ustar magic). */
function isTarHeader(head: Buffer): boolean {
  if (head.length < 512) return false;
  const stored = Number.parseInt(
    head
      .toString('latin1', 148, 156)
      .replace(/[\0 ]+$/, '')
      .trim(),
    8,
  );
  let sum = 0;
  for (let i = 0; i < 512; i++) sum += i >= 148 && i < 156 ? 32 : head[i]!;
  return stored === sum && sum > 256;
}
