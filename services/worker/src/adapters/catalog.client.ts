import { catalogRpc } from '@baton/contracts';
import { isJsonObject, type Json, type JsonObject, readFoldedJson } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

export interface CatalogClient {
  /** Returns the sha256 of the blueprint's archive; it identifies the files for ever. */
  digest(tenant: string, blueprintId: string): Promise<string>;
  /** Returns the map: prefix of a namespaced import -> id of the imported blueprint. */
  namespaces(tenant: string, blueprintId: string): Promise<Record<string, string>>;
  /** Returns the plugins that the blueprint's plan declares, by name. */
  declaredPlugins(tenant: string, blueprintId: string): Promise<ReadonlyMap<string, DeclaredPlugin>>;
  /** Returns the uploaded plugin that fits a declared one best; null: none. */
  findPlugin(
    tenant: string,
    plugin: DeclaredPlugin,
  ): Promise<{ id: string; digest: string; archiveName: string } | null>;
  /** @throws AppError not_found_error */
  readWagon(tenant: string, pluginId: string): AsyncIterable<Uint8Array>;
  /** @throws AppError not_found_error */
  readFile(tenant: string, blueprintId: string, path: string): AsyncIterable<Uint8Array>;
  /**
   * Returns the paths of files below a folder of the blueprint, relative to it. @throws AppError not_found_error when there are
   * none
   */
  listFiles(tenant: string, blueprintId: string, folder: string): Promise<string[]>;
  /** Returns the files of a folder of the file server, and its limits; without files when its version still is `knownVersion`. */
  folder(folder: FolderName, knownVersion: string): Promise<FolderContents & { isChanged: boolean }>;
  /** @throws AppError not_found_error when the file has other content by now */
  readStored(folder: FolderName, path: string, digest: string): AsyncIterable<Uint8Array>;
  /** Stores a part of a large file; returns its digest. */
  storePiece(data: Buffer): Promise<string>;
  changeFolder(folder: FolderName, change: FolderWrite): Promise<void>;
}

/** The fields of a plugin's entry in a plan that the runtime needs. */
export interface DeclaredPlugin {
  name: string;
  isInstalled: boolean;
  packageName: string;
  packageVersion: string;
  distribution: string;
  source: string;
  pipArguments: string;
  properties: JsonObject;
}

export interface FolderName {
  area: 'deployments' | 'tenant-resources' | 'global-resources';
  tenant: string;
  /** Id of the deployment; empty in the other areas. */
  folder: string;
}

export type FolderFile = catalogRpc.FolderFile;

export interface FolderContents {
  /** Empty: the folder has no files. */
  version: string;
  files: ReadonlyMap<string, FolderFile>;
  maxFiles: number;
  maxBytes: number;
  maxFileBytes: number;
}

export interface FolderWrite {
  writes: { path: string; mode: number; modifiedUs: number; content?: Buffer; pieces?: string[] }[];
  /** Removed only while they have this content. */
  removes: { path: string; digest: string }[];
}

/** Even a large file on a slow link must arrive within this time. */
const FILE_DEADLINE_MS = 300_000;
/** A plan may have many megabytes. */
const PLAN_DEADLINE_MS = 60_000;
/** Joining the pieces of a large file takes as long as reading and writing it. */
const WRITE_DEADLINE_MS = 120_000;

export function createCatalogClient(rpc: RpcConnector): CatalogClient {
  const client = rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog');
  const planOf = async (tenant: string, blueprintId: string): Promise<JsonObject> => {
    const chunks: Buffer[] = [];
    const pieces = client.readPlan({ tenant, blueprintId }, { deadlineMs: PLAN_DEADLINE_MS });
    for await (const { data } of pieces) chunks.push(data);
    return chunks.length === 0 ? {} : readFoldedJson(Buffer.concat(chunks).toString());
  };
  return {
    digest: async (tenant, blueprintId) => (await client.getBlueprint({ tenant, blueprintId })).digest,
    namespaces: async (tenant, blueprintId) => {
      const { namespaces_mapping: mapping } = await planOf(tenant, blueprintId);
      if (!isJsonObject(mapping)) return {};
      return Object.fromEntries(
        Object.entries(mapping).filter((e): e is [string, string] => typeof e[1] === 'string'),
      );
    },
    declaredPlugins: async (tenant, blueprintId) => pluginsOf(await planOf(tenant, blueprintId)),
    findPlugin: async (tenant, { packageName, packageVersion, distribution }) => {
      const { plugins } = await client.findPlugins({
        tenant,
        queries: [{ packageName, packageVersion, distribution }],
      });
      return plugins[0] ?? null;
    },
    readWagon: async function* (tenant, pluginId) {
      for await (const chunk of client.readWagon({ tenant, pluginId }, { deadlineMs: FILE_DEADLINE_MS }))
        yield chunk.data;
    },
    readFile: async function* (tenant, blueprintId, path) {
      const chunks = client.readBlueprintFile(
        { tenant, blueprintId, path },
        { deadlineMs: FILE_DEADLINE_MS },
      );
      for await (const chunk of chunks) yield chunk.data;
    },
    listFiles: async (tenant, blueprintId, folder) =>
      (await client.listBlueprintFiles({ tenant, blueprintId, folder })).paths,
    folder: async (folder, knownVersion) => {
      const { files, ...facts } = await client.getFolder({ folder, knownVersion });
      return { ...facts, files: new Map(files.map((file) => [file.path, file])) };
    },
    readStored: async function* (folder, path, digest) {
      const chunks = client.readStoredFile({ folder, path, digest }, { deadlineMs: FILE_DEADLINE_MS });
      for await (const chunk of chunks) yield chunk.data;
    },
    storePiece: async (data) => (await client.storePiece({ data }, { deadlineMs: WRITE_DEADLINE_MS })).digest,
    changeFolder: async (folder, change) => {
      await client.changeFolder({ folder, ...change }, { deadlineMs: WRITE_DEADLINE_MS });
    },
  };
}

/** Returns every plugin that a node or workflow of the plan uses. */
function pluginsOf(plan: JsonObject): Map<string, DeclaredPlugin> {
  const listOf = (value: Json | undefined): JsonObject[] =>
    Array.isArray(value) ? value.filter(isJsonObject) : [];
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const all = [
    ...listOf(plan.workflow_plugins_to_install),
    ...listOf(plan.nodes).flatMap((node) => listOf(node.plugins)),
  ];
  return new Map(
    all.map((plugin) => [
      text(plugin.name),
      {
        name: text(plugin.name),
        isInstalled: plugin.install !== false,
        packageName: text(plugin.package_name),
        packageVersion: text(plugin.package_version),
        distribution: text(plugin.distribution),
        source: text(plugin.source),
        pipArguments: text(plugin.install_arguments),
        properties: isJsonObject(plugin.properties) ? plugin.properties : {},
      },
    ]),
  );
}
