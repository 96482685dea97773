export interface UnpackedFile {
  /** Below the top folder. */
  path: string;
  size: number;
  mode: number;
  content: Buffer | null;
  blobDigest: string | null;
}
