import { AppError, notFound } from '@baton/kernel';
import { sql } from 'kysely';
import { type Dependent, describeDependent } from '../domain/dependents';
import { readDependents } from '../store/dependencies.sql';
import { type DeploymentRow, readDeployment, readPlan } from '../store/deployments.sql';
import { readDocuments } from '../store/documents.sql';
import { readLabels } from '../store/labels.sql';
import { type NodeDefinition, readNodes } from '../store/nodes.sql';
import type { ListDeps } from './list-deployments';

/** What executions read of a deployment; texts are JSON. */

export interface Caller {
  username: string;
  isAdministrator: boolean;
}

/** The deployment for a caller of `tenant`: its own, or a global one of another tenant. @throws AppError not_found_error */
async function visibleTo(deps: ListDeps, tenant: string, id: string, caller: Caller): Promise<DeploymentRow> {
  const own = await readDeployment(deps.db.query, tenant, id);
  const isSeen =
    own !== null &&
    (own.visibility !== 'private' ||
      caller.isAdministrator ||
      caller.username === '' ||
      own.created_by === caller.username);
  if (isSeen) return own;
  const { rows } = await sql<{
    tenant: string;
  }>`select tenant from deployments where id = ${id} and visibility = 'global' limit 1`.execute(
    deps.db.query,
  );
  const global = rows[0] ? await readDeployment(deps.db.query, rows[0].tenant, id) : null;
  if (!global) throw notFound('Deployment', id);
  return global;
}

/** The deployment of a tenant. @throws AppError not_found_error */
export async function requireDeployment(
  deps: Pick<ListDeps, 'db'>,
  tenant: string,
  id: string,
): Promise<DeploymentRow> {
  const row = await readDeployment(deps.db.query, tenant, id);
  if (!row) throw notFound('Deployment', id);
  return row;
}

export interface DeploymentFacts {
  row: DeploymentRow;
  workflows: unknown;
  labels: unknown;
  inputs: unknown;
  /** Distinct pairs. */
  instanceStates: { node_id: string; state: string }[];
  nodeTypes: { id: string; type_hierarchy: string[] }[];
  dependents: string[];
}

/** What a start request is checked against. */
export async function deploymentFacts(
  deps: ListDeps,
  tenant: string,
  id: string,
  caller: Caller,
): Promise<DeploymentFacts> {
  const row = await visibleTo(deps, tenant, id, caller);
  const db = deps.db.query;
  const [plan, labels, states, nodes, dependents] = await Promise.all([
    readPlan(db, row.key),
    readLabels(db, row.key),
    sql<{
      node_id: string;
      state: string;
    }>`select distinct node_id, state from node_instances where deployment_key = ${row.key}`.execute(db),
    sql<{
      id: string;
      definition: string;
    }>`select id, encode(definition, 'hex') as definition from nodes where deployment_key = ${row.key}`.execute(
      db,
    ),
    blockingDependents(deps, row),
  ]);
  const digests = [...(plan ? [plan.model] : []), ...nodes.rows.map((node) => node.definition)];
  const documents = await readDocuments(db, deps.documents, digests);
  const model = plan ? (documents.get(plan.model) as { workflows?: unknown } | undefined) : undefined;
  return {
    row,
    workflows: model?.workflows ?? {},
    labels,
    inputs: plan?.inputs ?? {},
    instanceStates: states.rows,
    nodeTypes: nodes.rows.map((node) => ({
      id: node.id,
      type_hierarchy: (documents.get(node.definition) as NodeDefinition | undefined)?.type_hierarchy ?? [],
    })),
    dependents: dependents.map((dependent, i) => `[${i + 1}] ${describeDependent(dependent)}`),
  };
}

/**
 * Deployments that keep stop, uninstall, update and heal from running (reference/rest-api.md 6.6). Left out: whoever
 * made this one as a component, dependents that run such a workflow themselves, users of a capability that are not
 * installed.
 */
export async function blockingDependents(
  deps: Pick<ListDeps, 'db'>,
  row: DeploymentRow,
): Promise<Dependent[]> {
  const all = await readDependents(deps.db.query, row.key);
  return all.filter((dependent) => {
    const isFixed = dependent.creator === 'parent' || dependent.creator.startsWith('sharedresource.');
    return (
      !dependent.creator.startsWith('component.') &&
      !dependent.isLeaving &&
      (isFixed || dependent.installation === 'active')
    );
  });
}

export interface WorkflowModel {
  blueprintId: string;
  revision: number;
  nodes: unknown[];
  /** JSON text straight from the database. */
  instances: string;
  scalingGroups: unknown;
  deployment: Record<string, unknown>;
}

/** Nodes (shape of the plan), node instances (shape of REST) and started modifications, for building a graph. */
export async function workflowModel(deps: ListDeps, tenant: string, id: string): Promise<WorkflowModel> {
  const row = await requireDeployment(deps, tenant, id);
  const db = deps.db.query;
  const [plan, nodes, instances, modifications] = await Promise.all([
    readPlan(db, row.key),
    readNodes(db, row.key),
    sql<{ text: string }>`
      select coalesce(json_agg(json_build_object('id', id, 'node_id', node_id, 'state', state, 'version', version, 'host_id', host_id, 'index', index,
        'relationships', relationships, 'runtime_properties', runtime_properties, 'system_properties', coalesce(system_properties, '{}'),
        'scaling_groups', scaling_groups) order by node_id, index), '[]')::text as text
      from node_instances where deployment_key = ${row.key}`.execute(db),
    startedModifications(deps, row.key),
  ]);
  if (!plan) throw new AppError('internal_server_error', `Deployment \`${id}\` has no plan`);
  const documents = await readDocuments(
    db,
    deps.documents,
    nodes.map((node) => node.definition),
  );
  return {
    blueprintId: row.blueprint_id ?? '',
    revision: row.revision,
    nodes: nodes.map(({ definition, position: _position, ...node }) => ({
      ...node,
      ...(documents.get(definition) as NodeDefinition),
    })),
    instances: instances.rows[0]!.text,
    scalingGroups: plan.scaling_groups,
    deployment: { id: row.id, display_name: row.display_name, blueprint_id: row.blueprint_id, modifications },
  };
}

interface MarkedInstance {
  id: string;
  modification?: string;
}

async function startedModifications(deps: ListDeps, key: number): Promise<unknown[]> {
  const { rows } = await sql<{
    id: string;
    context: unknown;
    added_and_related: MarkedInstance[];
    removed_and_related: MarkedInstance[];
  }>`
    select id, context, added_and_related, removed_and_related from deployment_modifications
    where deployment_key = ${key} and status = 'started'`.execute(deps.db.query);
  return rows.map((row) => ({
    id: row.id,
    context: row.context,
    ...idsOf(row.added_and_related, row.removed_and_related),
  }));
}

/** Ids of what a modification adds, removes and touches. */
export function idsOf(
  addedAndRelated: readonly MarkedInstance[],
  removedAndRelated: readonly MarkedInstance[],
) {
  const ids = (list: readonly MarkedInstance[], mark?: string): string[] =>
    list.filter((i) => i.modification === mark).map((i) => i.id);
  return {
    added: ids(addedAndRelated, 'added'),
    removed: ids(removedAndRelated, 'removed'),
    related: [
      ...new Set([
        ...ids(addedAndRelated),
        ...ids(removedAndRelated),
        ...ids(addedAndRelated, 'related'),
        ...ids(removedAndRelated, 'related'),
      ]),
    ],
  };
}
