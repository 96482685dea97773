import type { ExportWanted, ImportClient } from '@baton/import-part';
import { type JsonObject, readFoldedJson } from '@baton/kernel';

interface Piece {
  type: string;
  items: JsonObject[];
  blobs?: string[];
}

/** Names that a closure lists; null: everything of the tenant. */
const namesIn = ({ deploymentId, closure }: ExportWanted, list: string): string[] | null => {
  if (deploymentId === '') return null;
  const names = closure[list];
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
};

/** Plugins, blueprints and filters of a tenant, or the plugins (by id) and blueprints (by id) of a closure. */
export async function* exportCatalog(
  client: ImportClient,
  wanted: ExportWanted,
): AsyncGenerator<Piece, void, void> {
  yield await plugins(client, wanted);
  yield* blueprints(client, wanted);
  if (wanted.deploymentId !== '') return;
  const { rows } = await client.query<JsonObject>(
    `select id, value, visibility, created_by, created_at, updated_at, is_system_filter
     from blueprint_filters where tenant = $1 and not is_system_filter order by id`,
    [wanted.tenant],
  );
  yield { type: 'blueprints_filters', items: rows };
}

async function plugins(client: ImportClient, wanted: ExportWanted): Promise<Piece> {
  const { rows } = await client.query<JsonObject & { archive: { digest: string } }>(
    `select id, visibility, created_by, uploaded_at, title, package_name, package_version, package_source, archive_name,
       distribution, distribution_release, distribution_version, supported_platform, supported_py_versions, wheels,
       excluded_wheels, labels, blueprint_labels, resource_tags,
       json_build_object('digest', coalesce(archive_digest, wagon_digest), 'size', coalesce(archive_size, wagon_size)) as archive
     from plugins where tenant = $1 and not is_bundled and ($2::text[] is null or id::text = any($2)) order by id`,
    [wanted.tenant, namesIn(wanted, 'plugins')],
  );
  return { type: 'plugins', items: rows, blobs: rows.map(({ archive }) => archive.digest) };
}

interface BlueprintRow extends JsonObject {
  id: string;
  plan_text: string | null;
  archive: { digest: string; size: number } | null;
}

/** One by one: a plan may be large. */
async function* blueprints(client: ImportClient, wanted: ExportWanted): AsyncGenerator<Piece, void, void> {
  for (let after = ''; ; ) {
    const { rows } = await client.query<BlueprintRow>(BLUEPRINT, [
      wanted.tenant,
      namesIn(wanted, 'blueprints'),
      after,
    ]);
    const [row] = rows;
    if (!row) return;
    const { plan_text: text, ...item } = row;
    const plan = text === null ? null : readFoldedJson(text);
    yield { type: 'blueprints', items: [{ ...item, plan }], blobs: row.archive ? [row.archive.digest] : [] };
    after = row.id;
  }
}

const BLUEPRINT = `
  select id, visibility, created_by, created_at, updated_at, main_file_name, plan::text as plan_text, requirements, description,
    is_hidden, state, error, error_traceback,
    translate(encode(icon, 'base64'), E'\\n', '') as icon,
    case when archive_digest is not null then json_build_object('digest', archive_digest, 'size', archive_size) end as archive,
    coalesce((select json_agg(json_build_object('key', l.key, 'value', l.value, 'created_at', l.created_at, 'created_by', l.created_by)
      order by l.key, l.value) from blueprint_labels l where l.tenant = b.tenant and l.blueprint_id = b.id), '[]') as labels
  from blueprints b
  where tenant = $1 and ($2::text[] is null or id = any($2)) and id collate "C" > $3 order by id collate "C" limit 1`;
