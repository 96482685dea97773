import { type AnyQuery, type AnyTx, prepared } from '@baton/postgres';
import { sql } from 'kysely';

/** The part of a node that nodes of equal blueprints share; the body of a document. */
export interface NodeDefinition {
  type_hierarchy: string[];
  operations: Record<string, unknown>;
  plugins: unknown[];
  plugins_to_install: unknown[] | null;
  relationships: unknown[];
  /** Only for a node that has lost its last relationship: an update makes its steps from them (`recordedNode`). */
  former_relationships?: unknown[];
}

export interface NewNode {
  id: string;
  position: number;
  type: string;
  host_id: string | null;
  /** Hex digest of its NodeDefinition. */
  definition: string;
  properties: unknown;
  number_of_instances: number;
  planned_number_of_instances: number;
  deploy_number_of_instances: number;
  min_number_of_instances: number;
  max_number_of_instances: number;
}

/** Inserts nodes of any number of deployments and numbers them (`seq`) by deployment and position, which is the order of lists. */
export async function insertNodes(
  tx: AnyTx,
  nodes: readonly (NewNode & { deployment_key: number })[],
): Promise<void> {
  if (nodes.length === 0) return;
  await prepared(
    tx,
    {
      name: 'nodes-insert',
      text: `insert into nodes (deployment_key, id, position, type, host_id, definition, properties, number_of_instances,
          planned_number_of_instances, deploy_number_of_instances, min_number_of_instances, max_number_of_instances)
        select n.deployment_key, n.id, n.position, n.type, n.host_id, decode(n.definition, 'hex'), n.properties, n.number_of_instances,
          n.planned_number_of_instances, n.deploy_number_of_instances, n.min_number_of_instances, n.max_number_of_instances
        from json_to_recordset($1::json) as n(deployment_key bigint, id text, position integer, type text, host_id text, definition text, properties json,
          number_of_instances integer, planned_number_of_instances integer, deploy_number_of_instances integer,
          min_number_of_instances integer, max_number_of_instances integer)
        order by n.deployment_key, n.position`,
    },
    [JSON.stringify(nodes)],
  );
}

export interface NodeRow extends Omit<NewNode, 'properties'> {
  properties: Record<string, unknown>;
}

/** Returns all nodes of a deployment in the order of the plan. */
export async function readNodes(db: AnyQuery, deploymentKey: number): Promise<NodeRow[]> {
  return prepared<NodeRow>(
    db,
    {
      name: 'nodes-of-deployment',
      text: `select id, position, type, host_id, encode(definition, 'hex') as definition, properties, number_of_instances,
          planned_number_of_instances, deploy_number_of_instances, min_number_of_instances, max_number_of_instances
        from nodes where deployment_key = $1 order by position, id`,
    },
    [deploymentKey],
  );
}

/** Inserts nodes behind all others, or replaces the nodes with the same ids. */
export async function upsertNodes(
  tx: AnyTx,
  deploymentKey: number,
  nodes: readonly NewNode[],
): Promise<void> {
  await sql`insert into nodes (deployment_key, id, position, type, host_id, definition, properties, number_of_instances,
      planned_number_of_instances, deploy_number_of_instances, min_number_of_instances, max_number_of_instances)
    select ${deploymentKey}, n.id, n.position, n.type, n.host_id, decode(n.definition, 'hex'), n.properties, n.number_of_instances,
      n.planned_number_of_instances, n.deploy_number_of_instances, n.min_number_of_instances, n.max_number_of_instances
    from json_to_recordset(${JSON.stringify(nodes)}::json) as n(id text, position integer, type text, host_id text, definition text,
      properties json, number_of_instances integer, planned_number_of_instances integer, deploy_number_of_instances integer,
      min_number_of_instances integer, max_number_of_instances integer)
    order by n.position
    on conflict (deployment_key, id) do update set position = excluded.position, type = excluded.type, host_id = excluded.host_id,
      definition = excluded.definition, properties = excluded.properties, number_of_instances = excluded.number_of_instances,
      planned_number_of_instances = excluded.planned_number_of_instances, deploy_number_of_instances = excluded.deploy_number_of_instances,
      min_number_of_instances = excluded.min_number_of_instances, max_number_of_instances = excluded.max_number_of_instances`.execute(
    tx,
  );
}

export async function deleteNodesExcept(
  tx: AnyTx,
  deploymentKey: number,
  ids: readonly string[],
): Promise<void> {
  await sql`delete from nodes where deployment_key = ${deploymentKey} and not id = any(${[...ids]}::text[])`.execute(
    tx,
  );
}

/** Sets instance counts by node id; null keeps a count. */
export async function setNodeCounts(
  tx: AnyTx,
  deploymentKey: number,
  counts: readonly { id: string; number: number | null; planned: number | null }[],
): Promise<void> {
  if (counts.length === 0) return;
  await sql`update nodes n set
      number_of_instances = coalesce(c.number, n.number_of_instances),
      planned_number_of_instances = coalesce(c.planned, n.planned_number_of_instances)
    from json_to_recordset(${JSON.stringify(counts)}::json) as c(id text, number integer, planned integer)
    where n.deployment_key = ${deploymentKey} and n.id = c.id`.execute(tx);
}
