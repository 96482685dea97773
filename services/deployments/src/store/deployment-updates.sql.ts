import type { LabelPair } from '@baton/contracts';
import type { DeploymentPlan, UpdateStep } from '@baton/dsl';
import type { JsonObject } from '@baton/kernel';
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Leaving } from '../domain/update-plan';

export interface UpdatePreparation {
  plan: DeploymentPlan;
  /** Labels of the deployment and of the new plan together. */
  labels: LabelPair[];
  /** Absent in updates that a release without this field has prepared. */
  defaultSchedules?: JsonObject;
}

export interface DeploymentUpdateRow {
  id: string;
  deployment_key: number;
  state: 'updating' | 'successful' | 'failed';
  created_by: string;
  is_administrator: boolean;
  new_blueprint_id: string;
  new_inputs: Record<string, unknown>;
  runtime_only_evaluation: boolean;
  preparation: UpdatePreparation | null;
  steps: UpdateStep[];
  leaving: Leaving | null;
}

const ROW = sql`id, deployment_key, state, created_by, is_administrator, new_blueprint_id, new_inputs, runtime_only_evaluation, preparation, steps, leaving`;

/** An update to be inserted. */
export interface NewUpdate {
  id: string;
  deploymentKey: number;
  state: 'updating' | 'failed';
  createdBy: string;
  isAdministrator: boolean;
  oldBlueprintId: string | null;
  newBlueprintId: string;
  oldInputs: unknown;
  newInputs: unknown;
  isRuntimeOnly: boolean;
}

export async function insertUpdate(tx: AnyTx, u: NewUpdate): Promise<void> {
  await sql`insert into deployment_updates (id, deployment_key, state, created_by, is_administrator, old_blueprint_id, new_blueprint_id,
      old_inputs, new_inputs, runtime_only_evaluation)
    values (${u.id}, ${u.deploymentKey}, ${u.state}, ${u.createdBy}, ${u.isAdministrator}, ${u.oldBlueprintId}, ${u.newBlueprintId},
      ${JSON.stringify(u.oldInputs)}::json, ${JSON.stringify(u.newInputs)}::json, ${u.isRuntimeOnly})`.execute(
    tx,
  );
}

/** Returns an update of the deployment. */
export async function readUpdate(
  db: AnyQuery | AnyTx,
  deploymentKey: number,
  id: string,
): Promise<DeploymentUpdateRow | null> {
  const { rows } = await sql<DeploymentUpdateRow>`
    select ${ROW} from deployment_updates where id = ${id} and deployment_key = ${deploymentKey}`.execute(db);
  return rows[0] ?? null;
}

/** Returns the state of an update; null when there is none. `isStarted`: its execution is known. */
export async function updateProgress(
  db: AnyQuery,
  id: string,
): Promise<{ state: string; isStarted: boolean } | null> {
  const { rows } = await sql<{ state: string; isStarted: boolean }>`
    select state, execution_id is not null as "isStarted" from deployment_updates where id = ${id}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** Writes columns of an update; JSON columns as values. */
export async function writeUpdate(
  tx: AnyTx,
  id: string,
  change: { state?: string; execution_id?: string } & Partial<
    Record<
      | 'preparation'
      | 'steps'
      | 'labels_to_create'
      | 'new_inputs'
      | 'deployment_update_nodes'
      | 'deployment_update_node_instances'
      | 'modified_entity_ids'
      | 'changes'
      | 'leaving',
      object
    >
  >,
): Promise<void> {
  const sets = Object.entries(change).map(([column, value]) =>
    typeof value === 'string'
      ? sql`${sql.id(column)} = ${value}`
      : sql`${sql.id(column)} = ${JSON.stringify(value)}::json`,
  );
  await sql`update deployment_updates set ${sql.join(sets)} where id = ${id}`.execute(tx);
}

/** Sets the update of an execution that did not end successfully to failed. */
export async function failUpdateOf(tx: AnyTx, deploymentKey: number, executionId: string): Promise<void> {
  await sql`update deployment_updates set state = 'failed'
    where execution_id = ${executionId} and deployment_key = ${deploymentKey} and state = 'updating'`.execute(
    tx,
  );
}
