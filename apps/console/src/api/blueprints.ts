/** Reads and changes blueprints. Every list request names the fields it needs and the number of rows. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import type { ListSource } from './lists';
import { type ApiQuery, PAGE_SIZE, pageOf } from './pages';
import { problemOf } from './problem';

const ROW_FIELDS = [
  'id',
  'description',
  'created_at',
  'created_by',
  'state',
  'error',
  'visibility',
  'labels',
  'tenant_name',
  'has_icon',
] as const;
const DETAIL_FIELDS = [...ROW_FIELDS, 'updated_at', 'main_file_name', 'error_traceback'] as const;

type BlueprintFields = Pick<Schemas['Blueprint'], (typeof ROW_FIELDS)[number]>;
/** `deployments`: the number of deployments of the blueprint; null when the user may not know it. */
export type BlueprintRow = BlueprintFields & { deployments: number | null };
export type BlueprintDetail = Pick<Schemas['Blueprint'], (typeof DETAIL_FIELDS)[number]>;
export type BlueprintState = Schemas['Blueprint']['state'];
/** The part of a plan that screens read; other fields are ignored. */
export interface BlueprintPlan {
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  capabilities?: Record<string, unknown>;
  nodes?: unknown[];
}

/** Keys begin with the kind and the tenant, so that the stream of changes can find the affected queries. */
export const blueprintKeys = {
  lists: (tenant: string) => ['blueprints', tenant] as const,
  one: (tenant: string, id: string) => ['blueprint', tenant, id] as const,
};

const WORKING: ReadonlySet<string> = new Set<BlueprintState>([
  'pending',
  'uploading',
  'extracting',
  'parsing',
]);
/** Whether the upload is still in progress. */
export const isUploading = (state: BlueprintState): boolean => WORKING.has(state);

/** The main file. For a failed upload the manager knows only the requested name, which may be empty. */
export const mainFileOf = ({ main_file_name: name }: Pick<BlueprintDetail, 'main_file_name'>): string =>
  name || 'blueprint.yaml';

/** Blueprints with the number of their deployments: two requests per page. */
export const blueprintList: ListSource<BlueprintRow> = {
  kind: 'blueprints',
  page: (client, tenant, query, offset) => ({
    queryKey: [...blueprintKeys.lists(tenant), 'page', query, offset] as readonly unknown[],
    queryFn: async ({ signal }) => {
      const { items, total } = pageOf<BlueprintFields>(
        await client.call('listBlueprints', {
          tenant,
          signal,
          query: { ...query, _include: ROW_FIELDS.join(','), _size: PAGE_SIZE, _offset: offset },
        }),
      );
      const counts = await deploymentCounts(
        client,
        tenant,
        items.map(({ id }) => id),
        signal,
      );
      return {
        items: items.map((row) => ({ ...row, deployments: counts && (counts.get(row.id) ?? 0) })),
        total,
      };
    },
  }),
};

/** Number of deployments of each blueprint; null when the user may not list deployments. */
async function deploymentCounts(
  client: Client,
  tenant: string,
  ids: string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number> | null> {
  if (ids.length === 0) return new Map();
  try {
    const { items } = await client.call('summarizeDeployments', {
      tenant,
      signal,
      query: { blueprint_id: ids, _target_field: 'blueprint_id', _size: ids.length },
    });
    return new Map(items.map((item) => [String(item.blueprint_id), Number(item.deployments)]));
  } catch (error) {
    if (problemOf(error).kind === 'forbidden') return null;
    throw error;
  }
}

export const blueprintQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...blueprintKeys.one(tenant, id), 'detail'],
    queryFn: async ({ signal }): Promise<BlueprintDetail> =>
      (await client.call('getBlueprint', {
        tenant,
        signal,
        params: { blueprint_id: id },
        query: { _include: DETAIL_FIELDS.join(',') },
      })) as BlueprintDetail,
  });

/** The plan. It may be large, so only parts of the screen that show it request it. */
export const planQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...blueprintKeys.one(tenant, id), 'plan'],
    queryFn: async ({ signal }): Promise<BlueprintPlan> =>
      ((
        await client.call('getBlueprint', {
          tenant,
          signal,
          params: { blueprint_id: id },
          query: { _include: 'plan' },
        })
      ).plan ?? {}) as BlueprintPlan,
  });

/** Blueprints that import this one: the first hundred, and the total. */
export const importersQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...blueprintKeys.one(tenant, id), 'uses'],
    queryFn: async ({ signal }) =>
      pageOf<Schemas['ResourceUse']>(
        await client.call('listBlueprintUses', {
          tenant,
          signal,
          params: { blueprint_id: id },
          query: { _include: 'id,created_at,created_by', _size: 100, _sort: 'id' },
        }),
      ),
    staleTime: 0,
  });

export type DeploymentOfBlueprint = Pick<
  Schemas['Deployment'],
  'id' | 'display_name' | 'deployment_status' | 'created_at'
>;

/** Deployments of this blueprint: the first fifty, and the total. */
export const deploymentsOfQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...blueprintKeys.one(tenant, id), 'deployments'],
    queryFn: async ({ signal }) =>
      pageOf<DeploymentOfBlueprint>(
        await client.call('listDeployments', {
          tenant,
          signal,
          query: {
            blueprint_id: id,
            _include: 'id,display_name,deployment_status,created_at',
            _size: PAGE_SIZE,
            _sort: ['-created_at', 'id'],
          },
        }),
      ),
    staleTime: 0,
  });

/** Path parameters of a file of the blueprint. */
const fileParams = (tenant: string, id: string, path: string) => ({
  tenant_name: tenant,
  blueprint_id: id,
  rest: path,
});

/** Paths of all files of the archive, in alphabetical order. */
export const filesQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...blueprintKeys.one(tenant, id), 'files'],
    queryFn: async ({ signal }) => {
      const listing = await client.call('getBlueprintResource', {
        tenant,
        signal,
        params: fileParams(tenant, id, ''),
      });
      return Object.keys(listing as object).sort();
    },
  });

export interface FileBytes {
  bytes: Uint8Array;
  /** Size of the whole file; null when the manager did not send it. */
  size: number | null;
}

/** At most this much of a file is read to be shown. */
const MOST_FILE_BYTES = 512 * 1024;

/** Size limit of the manager for icons. */
const MOST_ICON_BYTES = 1024 * 1024;

/** Reads the beginning of a file. */
export const fileQuery = (client: Client, tenant: string, id: string, path: string) =>
  queryOptions({
    queryKey: [...blueprintKeys.one(tenant, id), 'file', path],
    queryFn: async ({ signal }): Promise<FileBytes> => {
      const { body, length } = await client.download('getBlueprintResource', {
        tenant,
        signal,
        params: fileParams(tenant, id, path),
      });
      return { bytes: await readAtMost(body, MOST_FILE_BYTES), size: length };
    },
  });

/** Reads at most `mostBytes` from a stream and does not request the rest. */
async function readAtMost(body: ReadableStream<Uint8Array>, mostBytes: number): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size < mostBytes) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
  }
  void reader.cancel();
  const bytes = new Uint8Array(Math.min(size, mostBytes));
  let at = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(0, bytes.length - at);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export interface NewBlueprint {
  id: string;
  /** An archive, or the URL of one. */
  archive: Blob | string;
  mainFile: string;
  visibility: Schemas['Blueprint']['visibility'];
}

/** Time limit of an upload: long enough for a slow connection. */
const UPLOAD_MS = 3_600_000;

/**
 * Uploads a blueprint. The manager answers immediately and parses in the background: the state of the blueprint shows the result.
 */
export function uploadBlueprint(
  client: Client,
  tenant: string,
  { id, archive, mainFile, visibility }: NewBlueprint,
  signal?: AbortSignal,
): Promise<unknown> {
  const given: ApiQuery = { visibility, application_file_name: mainFile || undefined };
  const shared = { tenant, signal, params: { blueprint_id: id }, timeoutMs: UPLOAD_MS };
  if (typeof archive !== 'string')
    return client.upload('uploadBlueprint', {
      ...shared,
      content: archive,
      query: { ...given, async_upload: true },
    });
  // The URL may contain a token: it is sent in the body, not in the address of this request.
  const content = new FormData();
  content.set('params', JSON.stringify({ ...given, async_upload: true, blueprint_archive_url: archive }));
  return client.upload('uploadBlueprint', { ...shared, content });
}

/** Returns all files of a blueprint as a tar.gz. Works also for a failed upload, when its archive had been unpacked. */
export const openArchive = async (
  client: Client,
  tenant: string,
  id: string,
  signal?: AbortSignal,
): Promise<ReadableStream<Uint8Array>> =>
  (
    await client.download('getBlueprintResource', {
      tenant,
      signal,
      params: fileParams(tenant, id, ''),
      query: { archive: true },
    })
  ).body;

/** The icon as an image blob; the browser caches it by its ETag. */
export const iconQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...blueprintKeys.one(tenant, id), 'icon'],
    queryFn: async ({ signal }): Promise<Blob> => {
      const { body } = await client.download('getBlueprintIcon', {
        tenant,
        signal,
        params: { blueprint_id: id },
      });
      // The type is fixed here: the manager's or the file's own claim is ignored.
      return new Blob([(await readAtMost(body, MOST_ICON_BYTES)) as BlobPart], { type: 'image/png' });
    },
    staleTime: 60_000,
  });
