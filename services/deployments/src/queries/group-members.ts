import type { deploymentsRpc, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { sql } from 'kysely';
import { describeDependent } from '../domain/dependents';
import { findGroup } from '../store/deployment-groups.sql';
import { type DeploymentRow, deploymentScope, readDeployment } from '../store/deployments.sql';
import { readDocuments } from '../store/documents.sql';
import type { ListDeps } from './list-deployments';
import { blockingDependents, type Caller } from './workflow-model';

const MAX_PAGE = 1000;

interface MemberRow {
  seq: number;
  key: number;
  id: string;
  blueprint_id: string | null;
  display_name: string;
  visibility: string;
  create_execution: string | null;
  model: string;
  states: { node_id: string; state: string }[];
  node_types: string[];
  has_dependents: boolean;
  quarantine: string | null;
}

/** Makes a principal of the caller that is sufficient for the visibility of rows. */
export function principalOf(tenant: string, caller: Caller): Principal {
  return {
    userId: 0,
    username: caller.username,
    tenant,
    role: '',
    roles: [],
    permissions: caller.isAdministrator ? ['administrators'] : [],
    tenants: [],
    authMethod: 'execution_token',
    executionId: '',
    isBootstrapAdmin: false,
  };
}

/** Returns one page of members with the facts against which a start request is checked; workflows once per distinct document. */
export async function groupMembers(
  deps: ListDeps,
  tenant: string,
  groupId: string,
  caller: Caller,
  page: { after: number; limit: number },
): Promise<deploymentsRpc.ListGroupMembersResponse> {
  const db = deps.db.query;
  const principal = principalOf(tenant, caller);
  const group = await findGroup(db, principal, groupId);
  if (!group) throw notFound('DeploymentGroup', groupId);
  const limit = Math.min(page.limit > 0 ? page.limit : MAX_PAGE, MAX_PAGE);
  const { rows } = await sql<MemberRow>`
    select m.seq, d.key, d.id, d.blueprint_id, d.display_name, d.visibility, d.create_execution, encode(p.model, 'hex') as model, p.node_types,
      (select coalesce(json_agg(distinct jsonb_build_object('node_id', i.node_id, 'state', i.state)), '[]')
        from node_instances i where i.deployment_key = d.key) as states,
      exists (select 1 from inter_deployment_dependencies x where x.target_key = d.key)
        or exists (select 1 from deployment_parents x where x.parent_key = d.key) as has_dependents,
      (select q.source from deployment_quarantines q where q.deployment_key = d.key) as quarantine
    from deployment_group_members m join deployments d on d.key = m.deployment_key join deployment_plans p on p.deployment_key = d.key
    where m.group_key = ${group.key} and m.seq > ${page.after} and d.tenant = ${tenant} and ${deploymentScope(principal)}
    order by m.seq limit ${limit}`.execute(db);
  const digests = [...new Set(rows.map((row) => row.model))];
  const documents = await readDocuments(db, deps.documents, digests);
  const workflows = digests.map((digest) => {
    const model = documents.get(digest) as { workflows?: unknown } | undefined;
    return [digest, JSON.stringify(model?.workflows ?? {})];
  });
  return {
    members: await Promise.all(rows.map((row) => memberOf(deps, tenant, row))),
    workflowsJson: Object.fromEntries(workflows),
    next: rows.length < limit ? 0 : rows.at(-1)!.seq,
    visibility: group.visibility,
  };
}

async function memberOf(deps: ListDeps, tenant: string, row: MemberRow): Promise<deploymentsRpc.GroupMember> {
  const whole = row.has_dependents ? await readDeployment(deps.db.query, tenant, row.id) : null;
  return {
    id: row.id,
    blueprintId: row.blueprint_id ?? '',
    displayName: row.display_name,
    visibility: row.visibility,
    workflowsKey: row.model,
    instanceStatesJson: JSON.stringify(row.states),
    nodeTypesJson: JSON.stringify([{ type_hierarchy: row.node_types }]),
    dependents: whole ? await dependentsOf(deps, whole) : [],
    madeBy: row.create_execution ?? '',
    quarantine: row.quarantine ?? '',
  };
}

async function dependentsOf(deps: ListDeps, row: DeploymentRow): Promise<string[]> {
  const found = await blockingDependents(deps, row);
  return found.map((dependent, i) => `[${i + 1}] ${describeDependent(dependent)}`);
}
