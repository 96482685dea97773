/** What importers of the catalog read of records (packages/cloudify-archive, src/model/catalog-shapes.ts). Other fields are ignored. */
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { z } from 'zod';

/** Deepest nesting of a plan; the DSL reads no deeper. */
const MAX_DEPTH = 200;
const MAX_LABELS = 1_000;

const name = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9._~-]{0,255}$/,
    'must be an ASCII letter, then at most 255 letters, digits, "-", ".", "_" or "~"',
  );
const plain = (most: number) =>
  z
    .string()
    .max(most, `must have at most ${most} characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must have no control characters');
const text = z
  .string()
  .max(1_000_000, 'must have at most 1000000 characters')
  .refine((given) => !given.includes('\u0000'), 'must not contain NUL');
const instant = z.iso.datetime({ offset: true });
const visibility = z.enum(['private', 'tenant', 'global']).default('tenant');
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest in hex');
/** Content in the blob store, which the reader of the archive has put there. */
const blob = z.object({ digest, size: z.number().int().min(0) });
const json = z.custom<Json>(
  (value) => value !== undefined && isShallow(value),
  `must be nested at most ${MAX_DEPTH} deep`,
);
const object = z.custom<JsonObject>(
  (value) => isJsonObject(value) && isShallow(value),
  `must be an object, nested at most ${MAX_DEPTH} deep`,
);

/** Without recursion: hostile values may be deeper than the stack. */
function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return true;
}

const label = z.object({
  key: plain(256).min(1),
  value: plain(256).min(1),
  created_at: instant.nullish(),
  created_by: plain(1024).nullish(),
});

export const blueprintRecord = z.object({
  id: name,
  visibility,
  created_by: plain(1024).nullish(),
  created_at: instant.nullish(),
  updated_at: instant.nullish(),
  main_file_name: plain(1024).nullish(),
  plan: object.nullish(),
  requirements: json.nullish(),
  description: text.nullish(),
  is_hidden: z.boolean().default(false),
  state: plain(64).default('uploaded'),
  error: text.nullish(),
  error_traceback: text.nullish(),
  labels: z.array(label).max(MAX_LABELS, `must be at most ${MAX_LABELS} labels`).default([]),
  archive: blob.nullish(),
  /** PNG in base64. */
  icon: z.string().max(4_000_000).nullish(),
});

export const pluginRecord = z.object({
  id: z.guid(),
  visibility,
  created_by: plain(1024).nullish(),
  uploaded_at: instant.nullish(),
  title: plain(1024).nullish(),
  package_name: plain(1024).nullish(),
  package_version: plain(1024).nullish(),
  /** The zip or wagon as it was uploaded, or a zip of what the old manager kept of it. */
  archive: blob.nullish(),
});

export const filterRecord = z.object({
  id: name,
  visibility,
  created_by: plain(1024).nullish(),
  created_at: instant.nullish(),
  updated_at: instant.nullish(),
  value: z.array(z.unknown()).max(1_000).default([]),
  is_system_filter: z.boolean().default(false),
});

export type BlueprintRecord = z.output<typeof blueprintRecord>;
export type PluginRecord = z.output<typeof pluginRecord>;
export type FilterRecord = z.output<typeof filterRecord>;
