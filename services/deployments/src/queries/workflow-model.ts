import { AppError, notFound, RawJson } from '@baton/kernel';
import { type Dependent, describeDependent } from '../domain/dependents';
import { graphDefinition } from '../domain/graph-definition';
import { descendantKeys, readDependents } from '../store/dependencies.sql';
import { type DeploymentRow, readDeployment } from '../store/deployments.sql';
import { readDocuments } from '../store/documents.sql';
import type { NodeDefinition } from '../store/nodes.sql';
import { type FactsRow, type ModelRow, readGlobalFacts } from '../store/workflow-reads.sql';
import type { ListDeps } from './list-deployments';
import type { WorkflowReads } from './workflow-reads';

/** Reads of a deployment by the service executions; texts are JSON. */

type Deps = ListDeps & { workflowReads: WorkflowReads };

export interface Caller {
  username: string;
  isAdministrator: boolean;
}

/**
 * Returns the facts of a deployment for a caller of `tenant`: its own deployment, or a global one of another tenant.
 * @throws AppError not_found_error
 */
async function visibleTo(deps: Deps, tenant: string, id: string, caller: Caller): Promise<FactsRow> {
  const own = await deps.workflowReads.facts({ tenant, id });
  if (own !== null && isSeenBy(caller, own)) return own;
  const global = await readGlobalFacts(deps.db.query, id);
  if (!global) throw notFound('Deployment', id);
  return global;
}

const isSeenBy = (caller: Caller, row: { visibility: string; created_by: string }): boolean =>
  row.visibility !== 'private' ||
  caller.isAdministrator ||
  caller.username === '' ||
  row.created_by === caller.username;

/** Returns the deployment of exactly that tenant if the caller sees it. @throws AppError not_found_error */
export async function findVisible(
  deps: Pick<ListDeps, 'db'>,
  tenant: string,
  id: string,
  caller: Caller,
): Promise<DeploymentRow> {
  const row = await readDeployment(deps.db.query, tenant, id);
  if (!row || !isSeenBy(caller, row)) throw notFound('Deployment', id);
  return row;
}

/** Returns the deployment of a tenant. @throws AppError not_found_error */
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
  /** Its texts are JSON. */
  row: FactsRow;
  /** JSON text. */
  workflows: string;
  dependents: string[];
}

/** Returns the facts against which a start request is checked. */
export async function deploymentFacts(
  deps: Deps,
  tenant: string,
  id: string,
  caller: Caller,
  leavingWith = '',
): Promise<DeploymentFacts> {
  const row = await visibleTo(deps, tenant, id, caller);
  const dependents = row.has_dependents
    ? await blockingDependents(deps, row, await familyKeys(deps, tenant, leavingWith))
    : [];
  return {
    row,
    workflows: row.model === null ? '{}' : await workflowsText(deps, row.model),
    dependents: dependents.map((dependent, i) => `[${i + 1}] ${describeDependent(dependent)}`),
  };
}

/** Returns the keys of a deployment and of its descendants; none for ''. */
async function familyKeys(deps: Pick<ListDeps, 'db'>, tenant: string, id: string): Promise<number[]> {
  const top = id === '' ? null : await readDeployment(deps.db.query, tenant, id);
  if (!top) return [];
  return [top.key, ...(await descendantKeys(deps.db.query, top.key)).map(({ key }) => key)];
}

/** Returns the workflows of a model document as JSON, cached for all deployments of a blueprint. */
async function workflowsText(deps: ListDeps, digest: string): Promise<string> {
  const known = deps.fragments.get(`${digest} plan workflows`);
  if (known) return known.text;
  const documents = await readDocuments(deps.db.query, deps.documents, [digest]);
  const workflows = (documents.get(digest) as { workflows?: unknown } | undefined)?.workflows ?? {};
  const made = new RawJson(JSON.stringify(workflows));
  deps.fragments.set(`${digest} plan workflows`, made);
  return made.text;
}

/**
 * Returns the deployments that block stop, uninstall, update and heal (reference/rest-api.md 6.6). Not blocking: the deployment
 * that created this one as a component, its own components, dependents that run such a workflow themselves, users of a capability
 * that are not installed, and deployments of `family`.
 */
export async function blockingDependents(
  deps: Pick<ListDeps, 'db'>,
  row: DeploymentRow,
  family: readonly number[] = [],
): Promise<Dependent[]> {
  const all = await readDependents(deps.db.query, row.key, family);
  return all.filter((dependent) => {
    const isFixed = dependent.creator === 'parent' || dependent.creator.startsWith('sharedresource.');
    return (
      !dependent.creator.startsWith('component.') &&
      !dependent.isLeaving &&
      !dependent.isOwnComponent &&
      (isFixed || dependent.installation === 'active')
    );
  });
}

/** Texts are JSON. */
export interface WorkflowModel {
  blueprintId: string;
  revision: number;
  nodes: string;
  /** Definitions by key; nodes have that key as `definition`. */
  definitions: string;
  instances: string;
  scalingGroups: string;
  deployment: Record<string, unknown>;
}

/**
 * Returns nodes (in the form of the plan), node instances (in the form of REST) and started modifications. `isWhole`: with all
 * their fields; otherwise only the fields from which a graph is built.
 */
export async function workflowModel(
  deps: Deps,
  tenant: string,
  id: string,
  { isWhole }: { isWhole: boolean },
): Promise<WorkflowModel> {
  const row = await deps.workflowReads.model({ tenant, id }, isWhole);
  if (!row) throw notFound('Deployment', id);
  if (row.scaling_groups === null)
    throw new AppError('internal_server_error', `Deployment \`${id}\` has no plan`);
  return {
    blueprintId: row.blueprint_id ?? '',
    revision: row.revision,
    ...(isWhole ? await wholeNodes(deps, row) : await nodesForGraph(deps, row)),
    instances: row.instances,
    scalingGroups: row.scaling_groups,
    deployment: {
      id: row.id,
      display_name: row.display_name,
      blueprint_id: row.blueprint_id,
      modifications: row.modification ? [startedModification(row.modification)] : [],
    },
  };
}

type Nodes = Pick<WorkflowModel, 'nodes' | 'definitions'>;

/**
 * Returns nodes with all fields. Shared definitions occur once here, too: ten thousand complete nodes are more than fits into a
 * message.
 */
async function wholeNodes(deps: ListDeps, row: ModelRow): Promise<Nodes> {
  const documents = await readDocuments(deps.db.query, deps.documents, row.definitions);
  return { nodes: row.nodes, definitions: JSON.stringify(Object.fromEntries(documents)) };
}

/** Returns the nodes with definitions for graphs, as texts by digest, made once for all nodes that share them. */
async function nodesForGraph(deps: ListDeps, row: ModelRow): Promise<Nodes> {
  const keyOf = (digest: string): string => `${digest} for graphs`;
  const known = new Map(row.definitions.map((digest) => [digest, deps.fragments.get(keyOf(digest))]));
  const missing = row.definitions.filter((digest) => !known.get(digest));
  const documents = await readDocuments(deps.db.query, deps.documents, missing);
  for (const digest of missing) {
    const made = new RawJson(JSON.stringify(graphDefinition(documents.get(digest) as NodeDefinition)));
    deps.fragments.set(keyOf(digest), made);
    known.set(digest, made);
  }
  const texts = [...known].map(([digest, text]) => `"${digest}":${text!.text}`);
  return { nodes: row.nodes, definitions: `{${texts.join(',')}}` };
}

interface MarkedInstance {
  id: string;
  modification?: string;
}

function startedModification(row: NonNullable<ModelRow['modification']>): Record<string, unknown> {
  return { id: row.id, context: row.context, ...idsOf(row.added_and_related, row.removed_and_related) };
}

/** Returns the ids of the instances that a modification adds and removes, and of those related to them. */
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
