export { createFileBlobStore } from './file-blob-store';
export { SWEEP_INTERVAL_MS } from './lease';
export type {
  BlobStat,
  BlobStore,
  ByteRange,
  ListedBlob,
  StoredBlob,
} from './port';
export { createS3BlobStore, type S3Options } from './s3-blob-store';
export {
  makeTemporaryFolder,
  sweepTemporaryFolders,
  type TemporaryFolder,
  withTemporaryFolder,
} from './temporary-folder';
