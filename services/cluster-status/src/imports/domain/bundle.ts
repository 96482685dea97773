import { z } from 'zod';

/** File of a bundle that says what it is; written last. */
export const BUNDLE_FILE = 'baton-bundle.json';
const MAX_FILES = 100;

/** How the passphrase becomes the key; written into the bundle, so that later releases may take more. */
const kdf = z.object({
  name: z.literal('scrypt'),
  salt: z.string().regex(/^[A-Za-z0-9_-]{22,86}$/),
  // 128 * N * r bytes: at most 64 MiB of memory for the bundle of a stranger.
  n: z.literal(2 ** 15),
  r: z.literal(8),
  p: z.literal(1),
});

export const bundleHeader = z.object({
  format: z.literal('baton-bundle'),
  version: z.literal(1),
  product_version: z.string().max(50),
  created_at: z.string().max(50),
  tenant: z.string().min(1).max(256),
  deployment_id: z.string().max(256),
  /** Null: no secret value is in it. */
  kdf: kdf.nullable(),
  /** Files of records, one for each type. */
  files: z
    .array(
      z.object({
        name: z.string().regex(/^records\/[a-z_]{1,40}\.ndjson$/),
        type: z.string().regex(/^[a-z_]{1,40}$/),
      }),
    )
    .max(MAX_FILES),
});
export type BundleHeader = z.infer<typeof bundleHeader>;

export const recordsFile = (type: string): string => `records/${type}.ndjson`;
export const blobFile = (digest: string): string => `blobs/${digest}`;
