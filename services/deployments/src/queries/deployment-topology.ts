import type { Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { edgesOf } from '../domain/topology-edges';
import { readDocuments } from '../store/documents.sql';
import type { NodeDefinition } from '../store/nodes.sql';
import { readTopology, readTopologyHead } from '../store/topology.sql';
import type { ListDeps } from './list-deployments';

/**
 * Returns the data from which a console draws a deployment. It takes two statements, or one when `isKnown` says that the caller has
 * the current version. Definitions of nodes come from the cache of documents, or take one more statement.
 * @throws AppError not_found_error, also for a deployment that the caller does not see.
 */
export async function deploymentTopology(
  deps: Pick<ListDeps, 'db' | 'documents'>,
  principal: Principal,
  id: string,
  isKnown: (version: string) => boolean,
) {
  const head = await readTopologyHead(deps.db.query, principal, id);
  if (!head) throw notFound('Deployment', id);
  const { key, version } = head;
  if (isKnown(version)) return { version, body: null };
  const { nodes, groups } = await readTopology(deps.db.query, key);
  const digests = [...new Set(nodes.map(({ definition }) => definition))];
  const documents = await readDocuments(deps.db.query, deps.documents, digests);
  const types = new Map<string, string[]>();
  const edges = nodes.map((node) => {
    const definition = documents.get(node.definition) as NodeDefinition | undefined;
    types.set(node.type, definition?.type_hierarchy ?? [node.type]);
    return edgesOf(node.id, definition ?? { relationships: [] });
  });
  const body = {
    deployment_id: head.id,
    version,
    nodes: nodes.map(({ id: node, type, host_id, total, by_state, has_drift }, at) => ({
      id: node,
      type,
      host_id,
      contained_in: edges[at]!.find(({ kind }) => kind === 'contained_in')?.target ?? null,
      instances: { total, by_state },
      has_drift,
    })),
    edges: edges.flat(),
    types: Object.fromEntries(types),
    groups: Object.entries(groups).map(([name, { members }]) => ({
      id: name,
      members: Array.isArray(members) ? members.map(String) : [],
    })),
  };
  return { version, body };
}
