import { exactJson } from '../value';
import { copyBlock } from './copy-writer';
import { type Estate, SNAPSHOT_EXECUTION } from './estate';
import { columnsOf, type Release } from './legacy-columns';
import { newKeys } from './legacy-keys';
import { type Cells, rowsOf } from './legacy-rows';
import { MADE_BY, zipBytes } from './zip-bytes';

const REVISIONS: Readonly<Record<Release, string>> = {
  '5.0': '62a8d746d13b',
  '5.2': '9d261e90b1f3',
  '6.2': '03ad040e6f78',
  '6.4': '272e61bf5f4a',
  '7.0': 'edd6d829a209',
};
const VERSIONS: Readonly<Record<Release, string>> = {
  '5.0': '5.0.5',
  '5.2': '5.2.7',
  '6.2': '6.2.0',
  '6.4': '6.4.2',
  '7.0': '7.0.0',
};

export interface LegacyWriteOptions {
  /** Changes the rows before they are written. */
  change?: (rows: Map<string, Cells[]>) => void;
}

/** The dump of an estate, as `pg_dump --data-only` of this release writes it. */
export function dumpOf(estate: Estate, release: Release, { change }: LegacyWriteOptions = {}): string {
  const rows = rowsOf({ estate, keys: newKeys(estate), release });
  change?.(rows);
  const blocks = [...columnsOf(release)].map(([table, columns]) =>
    copyBlock(
      table,
      columns,
      (rows.get(table) ?? []).map((cells) => columns.map((column) => cells[column] ?? null)),
    ),
  );
  const head =
    "--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\nSET client_encoding = 'UTF8';\nSELECT pg_catalog.set_config('search_path', '', false);\n\n";
  const tail = `SELECT pg_catalog.setval('public.users_id_seq', 7, true);\n\n--\n-- PostgreSQL database dump complete\n--\n\n`;
  // The original appends this line, without an end.
  return `${head}${blocks.join('')}${tail}DELETE FROM public.executions WHERE id = '${SNAPSHOT_EXECUTION}';`;
}

/** The entries of a legacy archive, for tests that change some of them. */
export function legacyEntries(
  estate: Estate,
  release: Release,
  options: LegacyWriteOptions = {},
): Map<string, Buffer> {
  const entries = new Map<string, Buffer>([
    ['README.txt', Buffer.from(`${MADE_BY}\n`)],
    ['pg_data', Buffer.from(dumpOf(estate, release, options))],
    [
      'rest-security.conf',
      Buffer.from(
        exactJson({
          hash_salt: estate.hashSalt,
          secret_key: 'x',
          encryption_key: estate.encryptionKey,
          encoding_block_size: 24,
        }),
      ),
    ],
    ['admin_account.json', Buffer.from(` {"id":0,"username":"admin"}\n\n`)],
    ['ssl/cloudify_internal_key.pem', Buffer.from('canary-key')],
  ]);
  for (const [key, files] of Object.entries(estate.blobs)) {
    const [type, tenant, id] = key.split('/') as [string, string, string];
    const folder =
      type === 'blueprints'
        ? `uploaded-blueprints/${tenant}/${id}`
        : type === 'plugins'
          ? `plugins/${id}`
          : `deployments/${tenant}/${id}`;
    for (const [name, content] of Object.entries(files)) entries.set(`${folder}/${name}`, content);
  }
  entries.set(
    'metadata.json',
    Buffer.from(
      exactJson({
        snapshot_version: VERSIONS[release],
        schema_revision: REVISIONS[release],
        made_by: MADE_BY,
      }),
    ),
  );
  return entries;
}

export const legacyArchive = (
  estate: Estate,
  release: Release,
  options: LegacyWriteOptions = {},
): Promise<Buffer> => zipBytes(legacyEntries(estate, release, options));
