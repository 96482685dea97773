/**
 * Restores the complete nodes of a workflow's model. Over rpc the common parts of nodes are sent once: a node has a
 * `definition`, which is a key of `definitionsJson`. Nodes with the same definition share its objects, so callers must
 * not change them.
 *
 * @param nodesJson JSON list of nodes; '' is none
 * @param definitionsJson JSON object, definition by key; '' when the nodes are complete
 */
export function nodesOfModel<Node extends object>(nodesJson: string, definitionsJson: string): Node[] {
  const nodes = JSON.parse(nodesJson || '[]') as (Node & { definition?: string })[];
  const definitions = JSON.parse(definitionsJson || '{}') as Record<string, Partial<Node>>;
  return nodes.map(({ definition, ...own }) => ({ ...own, ...definitions[definition ?? ''] }) as Node);
}
