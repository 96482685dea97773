/** Contents of a snapshot archive (docs/adr/0012-snapshots.md): names of its entries, manifest, hash of the whole. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const ARCHIVE_VERSION = 1;

/** Services in the order of their export: a service that refers to others comes before those it refers to. */
export const EXPORT_ORDER = [
  'executions',
  'deployments',
  'catalog',
  'secrets',
  'identity',
  'cluster-status',
] as const;
export type SnapshotService = (typeof EXPORT_ORDER)[number];
/** The engine acts on the data that it finds, so it switches to the new state last. */
export const SWITCH_ORDER: readonly SnapshotService[] = [...EXPORT_ORDER].reverse();

/** Longest line of a table (one row as JSON). A longer line does not fit a message between services. */
export const MAX_LINE_BYTES = 48 * 1024 * 1024;
export const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const name = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/);

const manifestTable = z.object({
  name,
  columns: z.array(z.string().min(1).max(63)).min(1).max(1600),
  rows: z.number().int().min(0),
  hash: hex,
});
const manifestService = z.object({
  schema_version: z.string().max(200),
  tables: z.array(manifestTable).max(500),
  blobs: z.number().int().min(0),
});
export const manifestSchema = z.object({
  format: z.literal('baton-snapshot'),
  snapshot_version: z.number().int().min(1),
  product_version: z.string(),
  created_at: z.string(),
  execution_id: z.string(),
  /** shared: all services at one instant. ordered: each service at its own instant, referring services first. */
  consistency: z.enum(['shared', 'ordered']),
  options: z.object({ include_events: z.boolean(), include_logs: z.boolean() }),
  services: z.partialRecord(z.enum(EXPORT_ORDER), manifestService),
  blobs: z.object({ count: z.number().int().min(0), bytes: z.number().int().min(0), hash: hex }),
  hash: hex,
});
export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestTable = z.infer<typeof manifestTable>;

export const sealSchema = z.object({ master_key_id: z.string().max(100), seal: hex });

export const tableEntry = (service: string, table: string): string => `services/${service}/${table}.ndjson`;
export const blobEntry = (digest: string): string => `blobs/${digest}`;

/** Returns the canonical hash of the whole content of a snapshot: equal states have equal hashes. */
export function contentHash(manifest: Pick<Manifest, 'services' | 'blobs'>): string {
  const services = EXPORT_ORDER.map((service) => {
    const tables = [...(manifest.services[service]?.tables ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    return [service, tables.map((t) => [t.name, [...t.columns].sort(), t.rows, t.hash])];
  });
  const { count, bytes, hash } = manifest.blobs;
  return createHash('sha256')
    .update(JSON.stringify([services, [count, bytes, hash]]))
    .digest('hex');
}

export type EntryKind =
  | { kind: 'manifest' | 'seal' | 'metadata' }
  | { kind: 'table'; service: string; table: string }
  | { kind: 'blob'; digest: string };

/** Returns the kind of the entry with this name; null when an archive may not contain such an entry. */
export function entryKind(entry: string): EntryKind | null {
  if (entry === 'manifest.json') return { kind: 'manifest' };
  if (entry === 'seal.json') return { kind: 'seal' };
  if (entry === 'metadata.json') return { kind: 'metadata' };
  const table = /^services\/([a-z-]+)\/([a-z][a-z0-9_]{0,62})\.ndjson$/.exec(entry);
  if (table) return { kind: 'table', service: table[1]!, table: table[2]! };
  const blob = /^blobs\/([0-9a-f]{64})$/.exec(entry);
  return blob ? { kind: 'blob', digest: blob[1]! } : null;
}
