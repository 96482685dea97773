import { ownershipOf } from '@baton/contracts';
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
import type { WirePolicy } from './wire-policy';

async function upload(
  deps: PluginDeps,
  wire: WirePolicy,
  call: HttpCall,
  id: string | null,
): Promise<HttpAnswer> {
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
    isDevelopment: query.development ?? false,
    id,
    owner: await ownershipOf(call.principal, query, deps.findUser, {
      at: 'uploaded_at',
      by: 'created_by',
    }),
  };
  const stored = await uploadPlugin(deps, call.principal, request, hasArchive ? call.raw : null, call.signal);
  const row = await getPlugin(deps.db.query, call.principal, stored, call.include);
  return wire.presentPlugin(call.version, row);
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
  const found = await pluginYaml(deps.db, plugin.id, version);
  if (found === null) throw notFound('Plugin yaml', `${plugin.id} ${call.query.dsl_version ?? ''}`.trim());
  const { content: body, fileName: filename } = found;
  return answer({ body, filename, contentType: 'text/plain; charset=utf-8' });
}

function requireType(call: HttpCall, type: RegExp | null): void {
  if (type === null || type.test(call.contentType)) return;
  throw new AppError('unsupported_content_type_error', 'A JSON body is needed', {
    expected: 'application/json',
  });
}

export function pluginHttp(deps: PluginDeps, wire: WirePolicy): BoundRoute[] {
  const { db } = deps;
  const shown = async (call: HttpCall): Promise<PluginRow> =>
    wire.presentPlugin(
      call.version,
      await getPlugin(db.query, call.principal, call.params.plugin_id!, call.include),
    );
  const change = (run: (call: HttpCall, id: string) => Promise<void>) => async (call: HttpCall) => {
    await run(call, call.params.plugin_id!);
    return shown(call);
  };
  return bindRoutes(pluginRoutes, {
    listPlugins: async (call) => {
      const page = await listPlugins(db.query, call.principal, call.list);
      return listEnvelope(
        { ...page, items: page.items.map((row) => wire.presentPlugin(call.version, row)) },
        call.list,
      );
    },
    getPlugin: shown,
    uploadPlugin: (call) => upload(deps, wire, call, call.body?.id ?? call.query.id ?? null),
    uploadPluginById: (call) => upload(deps, wire, call, call.params.plugin_id!),
    uploadPluginByPut: (call) => upload(deps, wire, call, call.params.plugin_id!),
    actOnPlugin: change((call, id) => actOnPlugin(db, call.principal, id, call.body)),
    patchPlugin: change((call, id) => patchPlugin(deps, call.principal, id, call.body)),
    deletePlugin: async (call) => {
      requireType(call, wire.pluginDeleteType);
      const before = wire.showsDeleted(call.version) ? await shown(call) : null;
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
