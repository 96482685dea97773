import type { catalogRpc } from '@baton/contracts';
import { emptyResolver, parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import { AppError, notFound } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';

/** The catalog as its contract says, over blueprints in memory. */
export interface CatalogPeer {
  handlers: RpcHandlers<typeof catalogRpc.CatalogServiceDefinition>;
  /** How often a plan was sent. */
  plansSent(): number;
}

export interface PeerBlueprint {
  text: string;
  visibility?: string;
  state?: string;
}

export async function createCatalogPeer(blueprints: Record<string, PeerBlueprint>): Promise<CatalogPeer> {
  const plans = new Map<string, string>();
  for (const [id, { text }] of Object.entries(blueprints)) {
    const { plan, diagnostics } = await parseBlueprint({ text, resolver: withBuiltinTypes(emptyResolver) });
    if (!plan) throw new Error(`blueprint ${id}: ${diagnostics.map((d) => d.message).join('; ')}`);
    plans.set(id, JSON.stringify(plan));
  }
  let sent = 0;
  return {
    plansSent: () => sent,
    handlers: {
      getBlueprint: async ({ tenant, blueprintId, withPlan }) => {
        const found = blueprints[blueprintId];
        if (!found) throw notFound('Blueprint', blueprintId);
        if (withPlan) sent += 1;
        return {
          id: blueprintId,
          tenant,
          state: found.state ?? 'uploaded',
          visibility: found.visibility ?? 'tenant',
          createdBy: 'admin',
          mainFileName: 'blueprint.yaml',
          digest: `digest-of-${blueprintId}`,
          planJson: withPlan ? plans.get(blueprintId)! : '',
          labelsJson: '[]',
        };
      },
      readBlueprintFile: async function* () {
        yield* [];
        throw new AppError('not_found_error', 'no files here');
      },
      findPlugins: async () => ({ plugins: [] }),
    },
  };
}
