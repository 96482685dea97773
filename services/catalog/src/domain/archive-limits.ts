/** Limits on the contents of an archive. All bytes are counted after decompression unless stated otherwise. */
export interface ArchiveLimits {
  /** Bytes of the archive itself. */
  maxArchiveBytes: number;
  maxEntries: number;
  maxTotalBytes: number;
  /** Most unpacked bytes for one byte of archive, checked above `RATIO_FROM_BYTES`. */
  maxRatio: number;
  /** Wall time of unpacking. */
  maxMs: number;
}

export const RATIO_FROM_BYTES = 8 * 1024 * 1024;
export const MAX_PATH_LENGTH = 1024;
export const MAX_SEGMENT_LENGTH = 255;
export const MAX_PATH_DEPTH = 64;
export const MAX_LINK_STEPS = 16;
