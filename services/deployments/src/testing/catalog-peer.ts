import { createHash } from 'node:crypto';
import type { catalogRpc } from '@baton/contracts';
import { emptyResolver, parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import { AppError, badParameter, notFound } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';

/** The catalog service as its contract defines it, over blueprints in memory. */
export interface CatalogPeer {
  handlers: RpcHandlers<typeof catalogRpc.CatalogServiceDefinition>;
  /** Returns how often a plan was sent. */
  plansSent(): number;
  /** Blueprint texts after plugins updates, by id; other blueprints need no update. */
  updates: Map<string, string>;
  has(id: string): boolean;
  /** False: archives are checked, but unpacking fails as if the catalog did not answer. */
  isUnpacking: boolean;
}

export interface PeerBlueprint {
  text: string;
  visibility?: string;
  state?: string;
}

export async function createCatalogPeer(blueprints: Record<string, PeerBlueprint>): Promise<CatalogPeer> {
  const plans = new Map<string, string>();
  const updates = new Map<string, string>();
  const parse = async (id: string, text: string): Promise<void> => {
    const { plan, diagnostics } = await parseBlueprint({ text, resolver: withBuiltinTypes(emptyResolver) });
    if (!plan) throw new Error(`blueprint ${id}: ${diagnostics.map((d) => d.message).join('; ')}`);
    plans.set(id, JSON.stringify(plan));
  };
  for (const [id, { text }] of Object.entries(blueprints)) await parse(id, text);
  /** The archive of the working folder of each deployment. */
  const folders = new Map([['worked', 'a zip']]);
  let sent = 0;
  const unpacked = new Set<string>();
  const noFolders = async (): Promise<never> => {
    throw new AppError('not_found_error', 'no folders here');
  };
  const peer: CatalogPeer = {
    isUnpacking: true,
    plansSent: () => sent,
    updates,
    has: (id) => plans.has(id),
    handlers: {
      getUpload: async ({ executionId }) => {
        throw notFound('Execution', executionId);
      },
      getBlueprint: async ({ tenant, blueprintId }) => {
        const found: Partial<PeerBlueprint> = blueprints[blueprintId] ?? {};
        if (!plans.has(blueprintId)) throw notFound('Blueprint', blueprintId);
        return {
          id: blueprintId,
          tenant,
          state: found.state ?? 'uploaded',
          visibility: found.visibility ?? 'tenant',
          createdBy: 'admin',
          mainFileName: 'blueprint.yaml',
          digest: createHash('sha256').update(plans.get(blueprintId)!).digest('hex'),
          planJson: '',
          labelsJson: '[]',
        };
      },
      getStorage: async () => ({ blueprints: 0, plugins: 0, files: 0, limit: 0 }),
      readPlan: async function* ({ blueprintId }) {
        sent += 1;
        // In pieces whose borders also split characters.
        const bytes = Buffer.from(plans.get(blueprintId) ?? '');
        for (let at = 0; at < bytes.length; at += 1021) yield { data: bytes.subarray(at, at + 1021) };
      },
      readBlueprintFile: async function* () {
        yield* [];
        throw new AppError('not_found_error', 'no files here');
      },
      listBlueprintFiles: noFolders,
      findPlugins: async () => ({ plugins: [] }),
      readWagon: async function* () {
        yield* [];
        throw new AppError('not_found_error', 'no plugins here');
      },
      getFolder: noFolders,
      readStoredFile: async function* () {
        yield* [];
        await noFolders();
      },
      zipFolder: async function* ({ folder }) {
        const stored = folder && folders.get(folder.folder);
        if (stored !== undefined) yield { data: Buffer.from(stored) };
      },
      storePiece: noFolders,
      changeFolder: noFolders,
      unpackFolder: async ({ folder, archive, isCheck, requestId }) => {
        const text = Buffer.from(archive).toString();
        if (text === 'no archive') throw badParameter('extract', 'no archive that is known here');
        if (isCheck) return {};
        if (!peer.isUnpacking) throw new AppError('service_unavailable_error', 'nobody answers');
        if (!unpacked.has(requestId)) folders.set(folder!.folder, text);
        unpacked.add(requestId);
        return {};
      },
      preparePluginsUpdate: async ({ blueprintId, tempBlueprintId }) => {
        const text = updates.get(blueprintId);
        if (text !== undefined) await parse(tempBlueprintId, text);
        return { isChanged: text !== undefined };
      },
      adoptPluginsUpdate: async ({ blueprintId, tempBlueprintId }) => {
        const plan = plans.get(tempBlueprintId);
        if (plan !== undefined) plans.set(blueprintId, plan);
        return {};
      },
      dropPluginsUpdate: async ({ tempBlueprintId, isKept }) => {
        if (!isKept) plans.delete(tempBlueprintId);
        return {};
      },
    },
  };
  return peer;
}
