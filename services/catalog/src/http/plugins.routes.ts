import { ownershipOf } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { pluginRoutes } from '@baton/contracts/http/plugins';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  type HttpAnswer,
  type HttpCall,
  listEnvelope,
} from '@baton/http';
import { AppError, badParameter, notFound } from '@baton/kernel';
import {
  actOnPlugin,
  patchPlugin,
  removePlugin,
  setPluginVisibility,
  visiblePlugin,
} from '../commands/change-plugin';
import { type PluginDeps, uploadPlugin } from '../commands/upload-plugin';
import { getPlugin, listPlugins, type PluginRow, pluginYaml } from '../queries/read-plugins';
import { legacyTime } from './present-blueprint';

/** Columns of the original's storage that its clients may look for. */
const CLOUDIFY_EXTRAS = {
  wheels_p: null,
  excluded_wheels_p: null,
  supported_platform_p: null,
  supported_py_versions_p: null,
};

function present(call: HttpCall, row: PluginRow): PluginRow {
  if (call.wire === 'cloudify') return { ...row, ...CLOUDIFY_EXTRAS };
  if (call.version === 'v3.1') return row;
  const legacy = Object.fromEntries(legacyFields.plugin.filter((f) => f in row).map((f) => [f, row[f]]));
  return 'uploaded_at' in row ? { ...legacy, uploaded_at: legacyTime(row.uploaded_at) } : legacy;
}

async function upload(deps: PluginDeps, call: HttpCall, id: string | null): Promise<HttpAnswer> {
  const query = { ...call.query, ...call.body };
  const hasArchive = call.hasBody && call.body === undefined;
  const url = query.plugin_archive_url ?? null;
  if (query.plugin_path !== undefined)
    throw badParameter('plugin_path', 'files of the manager cannot be uploaded', {
      expected: 'a body or plugin_archive_url',
    });
  if (!hasArchive && url === null) {
    throw new AppError(
      'bad_parameters_error',
      'No archive: the body is empty and plugin_archive_url is not given',
      { field: 'plugin_archive_url', expected: 'an archive as body, or plugin_archive_url' },
    );
  }
  if (hasArchive && url !== null)
    throw badParameter(
      'plugin_archive_url',
      'an archive in the body and plugin_archive_url cannot be given together',
      { expected: 'one of both' },
    );
  const request = {
    url,
    title: query.title ?? null,
    visibility: query.visibility,
    isPrivate: query.private_resource,
    id,
    owner: await ownershipOf(call.principal, query, deps.findUser, {
      at: 'uploaded_at',
      by: 'created_by',
    }),
  };
  const stored = await uploadPlugin(deps, call.principal, request, hasArchive ? call.raw : null, call.signal);
  return present(call, await getPlugin(deps.db.query, call.principal, stored, call.include));
}

async function download(deps: PluginDeps, call: HttpCall): Promise<HttpAnswer> {
  const plugin = await visiblePlugin(deps.db, call.principal, call.params.plugin_id!);
  const isFull = call.query.full_archive && plugin.archive_digest !== null;
  const digest = isFull ? plugin.archive_digest! : plugin.wagon_digest;
  return answer({
    stream: await deps.blobs.open(digest),
    length: (isFull ? plugin.archive_size : plugin.wagon_size) ?? undefined,
    filename: isFull ? `${plugin.id}.zip` : plugin.archive_name,
    contentType: 'application/octet-stream',
  });
}

async function yaml(deps: PluginDeps, call: HttpCall): Promise<HttpAnswer> {
  const plugin = await visiblePlugin(deps.db, call.principal, call.params.plugin_id!);
  const version = call.query.dsl_version?.replace(/^cloudify_dsl_/, '') ?? null;
  const content = await pluginYaml(deps.db, plugin.id, version);
  if (content === null) throw notFound('Plugin yaml', `${plugin.id} ${call.query.dsl_version ?? ''}`.trim());
  return answer({ body: content, contentType: 'text/plain; charset=utf-8' });
}

/** The original insists on a JSON body here; the spec does not. */
function requireJson(call: HttpCall): void {
  if (call.wire === 'spec' || /^application\/json$/i.test(call.contentType)) return;
  throw new AppError('unsupported_content_type_error', 'A JSON body is needed', {
    expected: 'application/json',
  });
}

export function pluginHttp(deps: PluginDeps): BoundRoute[] {
  const { db } = deps;
  const shown = async (call: HttpCall): Promise<PluginRow> =>
    present(call, await getPlugin(db.query, call.principal, call.params.plugin_id!, call.include));
  const change = (run: (call: HttpCall, id: string) => Promise<void>) => async (call: HttpCall) => {
    await run(call, call.params.plugin_id!);
    return shown(call);
  };
  return bindRoutes(pluginRoutes, {
    listPlugins: async (call) => {
      const page = await listPlugins(db.query, call.principal, call.list);
      return listEnvelope({ ...page, items: page.items.map((row) => present(call, row)) }, call.list);
    },
    getPlugin: shown,
    uploadPlugin: (call) => upload(deps, call, call.body?.id ?? call.query.id ?? null),
    uploadPluginById: (call) => upload(deps, call, call.params.plugin_id!),
    uploadPluginByPut: (call) => upload(deps, call, call.params.plugin_id!),
    actOnPlugin: change((call, id) => actOnPlugin(db, call.principal, id, call.body)),
    patchPlugin: change((call, id) => patchPlugin(deps, call.principal, id, call.body)),
    deletePlugin: async (call) => {
      requireJson(call);
      const isLegacy = call.version === 'v2.1' && call.wire === 'spec';
      const before = isLegacy ? await shown(call) : null;
      await removePlugin(
        db,
        call.principal,
        call.params.plugin_id!,
        call.query.force || (call.body?.force ?? false),
      );
      return before === null ? answer({ status: 204 }) : answer({ status: 200, body: before });
    },
    downloadPlugin: (call) => download(deps, call),
    getPluginYaml: (call) => yaml(deps, call),
    setPluginVisibility: change((call, id) =>
      setPluginVisibility(db, call.principal, id, call.body.visibility),
    ),
    setPluginGlobal: change((call, id) => setPluginVisibility(db, call.principal, id, 'global')),
  });
}
