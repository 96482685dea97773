import type { Principal, Visibility } from '@baton/contracts';
import {
  type AnyQuery,
  type AnyTx,
  isGlobal as isGlobalRow,
  prepared,
  privateCreatorText,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { noteChanged, noteOwned, type OwnedDeployment } from './noted-deployments.sql';

export interface Deletion {
  request_id: string;
  force: boolean;
  delete_logs: boolean;
}

/** A deployment in the form that commands use. */
export interface DeploymentRow {
  key: number;
  tenant: string;
  id: string;
  blueprint_id: string | null;
  display_name: string;
  visibility: Visibility;
  created_by: string;
  revision: number;
  installation_status: string;
  runtime_only_evaluation: boolean;
  /** The execution that created it; null: unknown. */
  create_execution: string | null;
  latest_execution: string | null;
  latest_status: string | null;
  /** Version of the latest execution's row when it had that status (LatestExecution). */
  latest_version: number;
  /** Options of a DELETE whose execution has not ended. */
  deletion: Deletion | null;
}

/** The columns of a DeploymentRow. */
export const DEPLOYMENT_ROW = `key, tenant, id, blueprint_id, display_name, visibility, created_by, revision, installation_status, runtime_only_evaluation,
  create_execution, latest_execution, latest_status, latest_version, deletion`;

/** Returns the condition for rows of `deployments d` that the caller may see. */
export function deploymentScope(principal: Principal, allTenants = false): RawBuilder<SqlBool> {
  return visibilityScope(principal, 'd', allTenants);
}

/** Returns a deployment that the caller may see; a deployment of the own tenant comes before a global one. */
export async function findDeployment(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<DeploymentRow | null> {
  const { rows } = await sql<DeploymentRow>`
    select ${sql.raw(DEPLOYMENT_ROW)} from deployments d where d.id = ${id} and ${deploymentScope(principal)}
    order by d.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Returns a deployment by id in a tenant, for services that act without a user. */
export async function readDeployment(
  db: AnyQuery | AnyTx,
  tenant: string,
  id: string,
): Promise<DeploymentRow | null> {
  const statement = {
    name: 'deployments-read',
    text: `select ${DEPLOYMENT_ROW} from deployments where tenant = $1 and id = $2`,
  };
  return (await prepared<DeploymentRow>(db, statement, [tenant, id]))[0] ?? null;
}

/** Locks the row of a deployment, which guards every change of the deployment. */
export async function lockDeployment(tx: AnyTx, key: number): Promise<DeploymentRow | null> {
  const statement = {
    name: 'deployments-lock',
    text: `select ${DEPLOYMENT_ROW} from deployments where key = $1 for no key update`,
  };
  return (await prepared<DeploymentRow>(tx, statement, [key]))[0] ?? null;
}

export interface NewDeployment {
  id: string;
  blueprint_id: string;
  display_name: string;
  description: string | null;
  visibility: Visibility;
  created_by: string;
  created_at: string | null;
  site_key: number | null;
  runtime_only_evaluation: boolean;
  create_execution: string;
  is_environment: boolean;
  /** `active` for a model without node instances. */
  installation_status: string;
  own_status: string;
}

/** Inserts deployments; returns keys by id. @throws unique violation when an id is taken in the tenant. */
export async function insertDeployments(
  tx: AnyTx,
  tenant: string,
  deployments: readonly NewDeployment[],
): Promise<Map<string, number>> {
  const rows = await prepared<{ key: number; id: string }>(
    tx,
    {
      name: 'deployments-insert',
      text: `insert into deployments (tenant, id, blueprint_id, display_name, description, visibility, created_by, created_at, updated_at,
          site_key, runtime_only_evaluation, create_execution, latest_execution, latest_status, latest_workflow_id, is_environment,
          installation_status, own_status, deployment_status)
        select $1, d.id, d.blueprint_id, d.display_name, d.description, d.visibility, d.created_by, coalesce(d.created_at, t.now),
          coalesce(d.created_at, t.now), d.site_key, d.runtime_only_evaluation, d.create_execution, d.create_execution, 'terminated',
          'create_deployment_environment', d.is_environment, d.installation_status, d.own_status, d.own_status
        from (select app_now() as now) t, json_to_recordset($2::json) as d(id text, blueprint_id text, display_name text,
          description text, visibility text, created_by text, created_at timestamptz, site_key bigint,
          runtime_only_evaluation boolean, create_execution text, is_environment boolean, installation_status text, own_status text)
        returning key, id`,
    },
    [tenant, JSON.stringify(deployments)],
  );
  noteOwned(
    tx,
    'created',
    deployments.map((one) => ({ ...one, tenant })),
  );
  return new Map(rows.map((row) => [row.id, row.key]));
}

export interface PlanColumns {
  /** Hex digest of the shared model document. */
  model: string;
  inputs: unknown;
  outputs: unknown;
  capabilities: unknown;
  scaling_groups: unknown;
  resource_tags: unknown;
  node_types: string[];
}

export async function insertPlans(
  tx: AnyTx,
  plans: readonly (PlanColumns & { deployment_key: number })[],
): Promise<void> {
  await prepared(
    tx,
    {
      name: 'deployment-plans-insert',
      text: `insert into deployment_plans (deployment_key, model, inputs, outputs, capabilities, scaling_groups, resource_tags, node_types)
        select p.deployment_key, decode(p.model, 'hex'), p.inputs, p.outputs, p.capabilities, p.scaling_groups, p.resource_tags, p.node_types
        from json_to_recordset($1::json) as p(deployment_key bigint, model text, inputs json, outputs json, capabilities json,
          scaling_groups json, resource_tags json, node_types text[])`,
    },
    [JSON.stringify(plans)],
  );
}

export async function readPlan(db: AnyQuery | AnyTx, key: number): Promise<PlanColumns | null> {
  const rows = await prepared<PlanColumns>(
    db,
    {
      name: 'deployment-plans-read',
      text: `select encode(model, 'hex') as model, inputs, outputs, capabilities, scaling_groups, resource_tags, node_types
        from deployment_plans where deployment_key = $1`,
    },
    [key],
  );
  return rows[0] ?? null;
}

/** Replaces the plan. */
export async function updatePlan(tx: AnyTx, key: number, plan: PlanColumns): Promise<void> {
  await sql`update deployment_plans set model = decode(${plan.model}, 'hex'), inputs = ${JSON.stringify(plan.inputs)}::json,
      outputs = ${JSON.stringify(plan.outputs)}::json, capabilities = ${JSON.stringify(plan.capabilities)}::json,
      scaling_groups = ${JSON.stringify(plan.scaling_groups)}::json, resource_tags = ${JSON.stringify(plan.resource_tags)}::json,
      node_types = ${plan.node_types} where deployment_key = ${key}`.execute(tx);
}

/** Raises the revision after a change of the model's structure. */
export async function raiseRevision(tx: AnyTx, key: number): Promise<void> {
  await sql`update deployments set revision = revision + 1, updated_at = app_now() where key = ${key}`.execute(
    tx,
  );
  noteChanged(tx, [key]);
}

/** Updates columns of a deployment, and updated_at. `raisesRevision`: set with every change of the model's structure. */
export async function updateDeployment(
  tx: AnyTx,
  key: number,
  change: {
    display_name?: string;
    visibility?: Visibility;
    site_key?: number | null;
    is_environment?: boolean;
    created_at?: string;
    created_by?: string;
  },
  raisesRevision = false,
): Promise<void> {
  const sets = Object.entries(change)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => sql`${sql.id(column)} = ${value}`);
  const revision = raisesRevision ? [sql`revision = revision + 1`] : [];
  await sql`update deployments set ${sql.join([...sets, ...revision, sql`updated_at = app_now()`])} where key = ${key}`.execute(
    tx,
  );
  noteChanged(tx, [key]);
}

/** Sets the visibility of the deployment and of its node instances. */
export async function setVisibility(tx: AnyTx, key: number, visibility: Visibility): Promise<void> {
  await updateDeployment(tx, key, { visibility });
  await sql`update node_instances ni set visibility = d.visibility, private_to = ${sql.raw(privateCreatorText({ table: 'd' }))}
    from deployments d where d.key = ${key} and ni.deployment_key = d.key`.execute(tx);
}

/** Sets another creator or time of creation; private objects follow their creator. */
export async function setOwnership(
  tx: AnyTx,
  key: number,
  owner: { created_at?: string; created_by?: string },
): Promise<void> {
  await updateDeployment(tx, key, owner);
  if (owner.created_by === undefined) return;
  await sql`update node_instances set private_to = ${owner.created_by}
    where deployment_key = ${key} and private_to is not null`.execute(tx);
}

/** Stores the scaling groups (they contain instance counts) and raises the revision. */
export async function setScalingGroups(tx: AnyTx, key: number, scalingGroups: unknown): Promise<void> {
  await sql`update deployment_plans set scaling_groups = ${JSON.stringify(scalingGroups)}::json where deployment_key = ${key}`.execute(
    tx,
  );
  await sql`update deployments set revision = revision + 1, updated_at = app_now() where key = ${key}`.execute(
    tx,
  );
  noteChanged(tx, [key]);
}

export async function markDeletion(tx: AnyTx, key: number, deletion: Deletion): Promise<void> {
  await sql`update deployments set deletion = ${JSON.stringify(deletion)}::json where key = ${key}`.execute(
    tx,
  );
  noteChanged(tx, [key]);
}

export async function deleteDeployment(tx: AnyTx, key: number): Promise<void> {
  const { rows } = await sql<OwnedDeployment>`
    delete from deployments where key = ${key} returning tenant, id, created_by, visibility`.execute(tx);
  noteOwned(tx, 'deleted', rows);
}

/** Returns those of `ids` that a new deployment of the tenant cannot take: its own, and global ones of other tenants. */
export async function takenIds(
  db: AnyQuery | AnyTx,
  tenant: string,
  ids: readonly string[],
  isGlobal: boolean,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct id from deployments where id = any(${[...ids]}::text[])
      and (tenant = ${tenant} or ${isGlobal ? sql`true` : isGlobalRow()}) order by id`.execute(db);
  return rows.map((row) => row.id);
}

/** Whether another tenant has a global deployment of this id, or (for a new global one) any at all. */
export async function isIdTakenElsewhere(
  db: AnyQuery | AnyTx,
  tenant: string,
  id: string,
  isGlobal: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 as found from deployments where id = ${id} and tenant <> ${tenant} ${isGlobal ? sql`` : sql`and ${isGlobalRow()}`} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

export async function readDescription(tx: AnyTx, key: number): Promise<string | null> {
  const { rows } = await sql<{ description: string | null }>`
    select description from deployments where key = ${key}`.execute(tx);
  return rows[0]?.description ?? null;
}

/** Returns the capabilities that a deployment offers to its children; null when there is none of this id. */
export async function readCapabilities(
  db: AnyQuery,
  tenant: string,
  id: string,
): Promise<{ display_name: string; capabilities: Record<string, unknown> } | null> {
  const { rows } = await sql<{ display_name: string; capabilities: Record<string, unknown> }>`
    select d.display_name, p.capabilities from deployments d join deployment_plans p on p.deployment_key = d.key
    where d.tenant = ${tenant} and d.id = ${id}`.execute(db);
  return rows[0] ?? null;
}

/** Stores the attributes that an update changes in the deployment's own row, and raises the revision. */
export async function updateOwnAttributes(
  tx: AnyTx,
  key: number,
  changed: {
    blueprintId: string | null;
    description: string | null;
    isRuntimeOnly: boolean;
    isEnvironment: boolean;
  },
): Promise<void> {
  await sql`update deployments set blueprint_id = ${changed.blueprintId}, description = ${changed.description},
      runtime_only_evaluation = ${changed.isRuntimeOnly}, is_environment = ${changed.isEnvironment},
      revision = revision + 1, updated_at = app_now() where key = ${key}`.execute(tx);
  noteChanged(tx, [key]);
}
