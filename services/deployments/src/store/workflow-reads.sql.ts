import { type AnyQuery, type AnyTx, globalText, prepared } from '@baton/postgres';
import { sql } from 'kysely';
import { DEPLOYMENT_ROW, type DeploymentRow } from './deployments.sql';

/** Reads of deployments for the engine, each in one statement: all its data is of one instant, and it takes one round trip. */

/** A deployment with the facts against which a start request is checked; texts are JSON. */
export interface FactsRow extends DeploymentRow {
  /** Hex digest of the shared model document; null without a plan. */
  model: string | null;
  node_types: string[] | null;
  inputs: string | null;
  labels: string;
  /** Distinct pairs of node and state. */
  states: string;
  has_dependents: boolean;
  /** Source of an imported deployment that is not activated. */
  quarantine: string | null;
}

const FACTS = `select ${DEPLOYMENT_ROW}, encode(p.model, 'hex') as model, p.node_types, p.inputs::text as inputs,
    (select coalesce(json_agg(json_build_object('key', l.key, 'value', l.value) order by l.created_at, l.key, l.value), '[]')
      from deployment_labels l where l.deployment_key = d.key)::text as labels,
    (select coalesce(json_agg(json_build_object('node_id', s.node_id, 'state', s.state)), '[]')
      from (select distinct i.node_id, i.state from node_instances i where i.deployment_key = d.key) s)::text as states,
    exists (select 1 from inter_deployment_dependencies x where x.target_key = d.key)
      or exists (select 1 from deployment_parents x where x.parent_key = d.key) as has_dependents,
    (select q.source from deployment_quarantines q where q.deployment_key = d.key) as quarantine
  from deployments d left join deployment_plans p on p.deployment_key = d.key`;

/** A deployment of a tenant. */
export interface DeploymentPlace {
  tenant: string;
  id: string;
}

/**
 * Selects the requested deployments, by tenants $1 and ids $2: `nth` is the position of each from 1; each is looked up by its id.
 */
const ofEach = (select: string): string => `select asked.nth::int as nth, found.*
  from unnest($1::text[], $2::text[]) with ordinality asked(tenant, id, nth)
  cross join lateral (${select} where d.tenant = asked.tenant and d.id = asked.id limit 1) found`;

const FACTS_OF = { name: 'facts-of-deployments', text: ofEach(FACTS) };
const FACTS_OF_GLOBAL = {
  name: 'facts-of-global-deployment',
  text: `${FACTS} where d.id = $1 and ${globalText('d')} limit 1`,
};

/** Returns the facts of each deployment, in the order of the request; null: there is none. */
export async function readFacts(
  db: AnyQuery,
  asked: readonly DeploymentPlace[],
): Promise<(FactsRow | null)[]> {
  return inOrder(asked, await prepared<FactsRow & Nth>(db, FACTS_OF, placesOf(asked)));
}

/** Returns the facts of a global deployment of any tenant. */
export async function readGlobalFacts(db: AnyQuery, id: string): Promise<FactsRow | null> {
  return (await prepared<FactsRow>(db, FACTS_OF_GLOBAL, [id]))[0] ?? null;
}

interface Nth {
  nth: number;
}

const placesOf = (asked: readonly DeploymentPlace[]): string[][] => [
  asked.map(({ tenant }) => tenant),
  asked.map(({ id }) => id),
];

function inOrder<Row extends Nth>(asked: readonly DeploymentPlace[], rows: readonly Row[]): (Row | null)[] {
  const found: (Row | null)[] = asked.map(() => null);
  for (const row of rows) found[row.nth - 1] = row;
  return found;
}

/** A deployment's model; texts are JSON. */
export interface ModelRow {
  id: string;
  display_name: string;
  blueprint_id: string | null;
  revision: number;
  /** Null without a plan. */
  scaling_groups: string | null;
  /** In the order of the plan; `definition` is the hex digest of the part that equal nodes share. */
  nodes: string;
  /** Digests, each once. */
  definitions: string[];
  instances: string;
  /** The running modification. */
  modification: { id: string; context: unknown; added_and_related: []; removed_and_related: [] } | null;
}

/** Selects a node instance with the fields from which graphs are built, with these runtime properties. */
const instance = (
  properties: string,
): string => `json_build_object('id', i.id, 'node_id', i.node_id, 'state', i.state, 'version', i.version,
  'host_id', i.host_id, 'index', i.index, 'relationships', i.relationships, 'runtime_properties', ${properties},
  'system_properties', coalesce(i.system_properties, '{}'), 'scaling_groups', i.scaling_groups)`;

const MODEL = {
  name: 'workflow-models',
  text: ofEach(`select d.id, d.display_name, d.blueprint_id, d.revision, p.scaling_groups::text as scaling_groups, n.nodes, n.definitions,
      (select coalesce(json_agg(${instance(`case when $3 then i.runtime_properties else '{}' end`)} order by i.node_id, i.index), '[]')
        from node_instances i where i.deployment_key = d.key)::text as instances,
      (select json_build_object('id', m.id, 'context', m.context, 'added_and_related', m.added_and_related,
          'removed_and_related', m.removed_and_related)
        from deployment_modifications m where m.deployment_key = d.key and m.status = 'started') as modification
    from deployments d left join deployment_plans p on p.deployment_key = d.key
    cross join lateral (
      select coalesce(json_agg(json_build_object('id', n.id, 'type', n.type, 'host_id', n.host_id, 'properties', n.properties,
          'number_of_instances', n.number_of_instances, 'planned_number_of_instances', n.planned_number_of_instances,
          'deploy_number_of_instances', n.deploy_number_of_instances, 'min_number_of_instances', n.min_number_of_instances,
          'max_number_of_instances', n.max_number_of_instances, 'definition', encode(n.definition, 'hex'))
          order by n.position, n.id), '[]')::text as nodes,
        coalesce(array_agg(distinct encode(n.definition, 'hex')) filter (where n.id is not null), '{}') as definitions
      from nodes n where n.deployment_key = d.key) n`),
};

/**
 * Reads models, like `readFacts`; without the runtime properties of the instances unless `isWhole`, because they may be most of the
 * data.
 */
export async function readModels(
  db: AnyQuery,
  asked: readonly DeploymentPlace[],
  isWhole: boolean,
): Promise<(ModelRow | null)[]> {
  return inOrder(asked, await prepared<ModelRow & Nth>(db, MODEL, [...placesOf(asked), isWhole]));
}

/** Returns node instances of a deployment, all or those of `ids`, with the fields from which a graph is built, as a JSON list. */
export async function instancesText(
  db: AnyQuery | AnyTx,
  key: number,
  ids?: readonly string[],
): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select coalesce(json_agg(${sql.raw(instance('i.runtime_properties'))} order by i.node_id, i.index), '[]')::text as text
    from node_instances i where i.deployment_key = ${key} ${ids ? sql`and i.id = any(${[...ids]}::text[])` : sql``}`.execute(
    db,
  );
  return rows[0]!.text;
}
