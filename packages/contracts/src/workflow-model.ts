/**
 * Nodes of a workflow's model, whole again. Over rpc what nodes have in common stands once: a node names it as `definition`, a
 * key of `definitionsJson`. Nodes with the same definition share its objects: nobody may change them.
 *
 * @param nodesJson JSON list of nodes; '' is none
 * @param definitionsJson JSON object, definition by key; '' where the nodes are whole
 */
export function nodesOfModel<Node extends object>(nodesJson: string, definitionsJson: string): Node[] {
  const nodes = JSON.parse(nodesJson || '[]') as (Node & { definition?: string })[];
  const definitions = JSON.parse(definitionsJson || '{}') as Record<string, Partial<Node>>;
  return nodes.map(({ definition, ...own }) => ({ ...own, ...definitions[definition ?? ''] }) as Node);
}
