export interface UnpackedFile {
  /** Path below the top folder. */
  path: string;
  size: number;
  mode: number;
  modifiedMs: number | null;
  content: Buffer | null;
  blobDigest: string | null;
}
