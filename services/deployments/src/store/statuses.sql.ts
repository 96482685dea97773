import { type AnyTx, type Db, prepared } from '@baton/postgres';
import { sql } from 'kysely';
import { combineStatuses, type FamilyMember, ownStatus, type SummaryStatus } from '../domain/statuses';
import { DEPLOYMENT_ROW, type DeploymentRow } from './deployments.sql';
import { noteChanged } from './noted-deployments.sql';
import type { DB } from './tables.gen';

/** Writes the status columns of reference/rest-api.md 6.4. Rows of a family are locked in key order. */

/**
 * Locks `keys` and all their ancestors in key order. Every transaction that will refresh a family does this first, which prevents
 * deadlocks.
 */
export async function lockUpwards(tx: AnyTx, keys: readonly number[]): Promise<void> {
  await prepared(
    tx,
    {
      name: 'deployments-lock-upwards',
      text: `with recursive above(key) as (
          select unnest($1::bigint[]) union select p.parent_key from deployment_parents p join above a on p.child_key = a.key
        )
        select d.key from deployments d where d.key in (select key from above) order by d.key for no key update`,
    },
    [[...keys]],
  );
}

/** Locks and returns the ancestors of `keys`, without `keys` themselves. */
async function lockAncestors(tx: AnyTx, keys: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ key: number }>`
    with recursive above(key) as (
      select parent_key from deployment_parents where child_key = any(${[...keys]}::bigint[])
      union select p.parent_key from deployment_parents p join above a on p.child_key = a.key
    )
    select d.key from deployments d where d.key in (select key from above) order by d.key for no key update`.execute(
    tx,
  );
  return rows.map((row) => row.key);
}

/** Returns the deployment of a tenant, locked as by `lockUpwards`; null when there is none. */
export async function lockFamilyOf(tx: AnyTx, tenant: string, id: string): Promise<DeploymentRow | null> {
  const rows = await prepared<DeploymentRow>(
    tx,
    {
      name: 'deployments-lock-family',
      text: `with recursive above(key) as (
          select key from deployments where tenant = $1 and id = $2
          union select p.parent_key from deployment_parents p join above a on p.child_key = a.key
        )
        select ${DEPLOYMENT_ROW} from deployments where key in (select key from above) order by key for no key update`,
    },
    [tenant, id],
  );
  return rows.find((row) => row.tenant === tenant && row.id === id) ?? null;
}

async function readFamily(tx: AnyTx, keys: readonly number[]): Promise<FamilyMember[]> {
  const { rows } = await sql<{ key: number; own: SummaryStatus; isEnvironment: boolean; children: number[] }>`
    with recursive below(key) as (
      select unnest(${[...keys]}::bigint[])
      union select p.child_key from deployment_parents p join below b on p.parent_key = b.key
    )
    select d.key, d.own_status as own, d.is_environment as "isEnvironment",
      array(select p.child_key from deployment_parents p where p.parent_key = d.key) as children
    from deployments d where d.key in (select key from below)`.execute(tx);
  return rows;
}

/**
 * Recomputes combined statuses and counts of `keys` and of all their ancestors, in a constant number of statements. `own_status` of
 * `keys` must be written before.
 */
export async function refreshFamily(tx: AnyTx, keys: readonly number[]): Promise<void> {
  if (keys.length === 0) return;
  const affected = [...new Set([...keys, ...(await lockAncestors(tx, keys))])];
  const combined = combineStatuses(await readFamily(tx, affected), affected);
  await sql`
    update deployments d set
      deployment_status = c.status, sub_services_status = c."servicesStatus", sub_environments_status = c."environmentsStatus",
      sub_services_count = c."servicesCount", sub_environments_count = c."environmentsCount"
    from json_to_recordset(${JSON.stringify(combined)}::json) as c(key bigint, status text, "servicesStatus" text,
      "environmentsStatus" text, "servicesCount" integer, "environmentsCount" integer)
    where d.key = c.key`.execute(tx);
  noteChanged(tx, affected);
}

/** Whether the deployment has a parent or child by csys-obj-parent: most have none and need no refresh. */
async function hasFamily(tx: AnyTx, key: number): Promise<boolean> {
  const rows = await prepared(
    tx,
    {
      name: 'family-any',
      text: 'select 1 as found from deployment_parents where child_key = $1 union all select 1 from deployment_parents where parent_key = $1 limit 1',
    },
    [key],
  );
  return rows.length > 0;
}

export interface LatestExecution {
  /** ISO time of a resumption without a version: the same execution continues, unless it ended after that time. */
  resumedAt?: string;
  id: string;
  /**
   * Version of the execution's row at which the status was decided: a version older than the shown one changes nothing. 0: unknown.
   */
  version: number;
  status: string;
  workflowId: string;
  totalOperations: number;
  finishedOperations: number;
}

/** Parameters of both functions of migration 0096. */
const statusValues = (execution: LatestExecution, hasEnded: boolean): unknown[] => [
  execution.id,
  execution.status,
  execution.workflowId,
  execution.totalOperations,
  execution.finishedOperations,
  hasEnded,
  execution.resumedAt ?? null,
  ownStatus(execution.status, 'active'),
  ownStatus(execution.status, 'inactive'),
];

/**
 * Writes the latest execution of a locked deployment, unless a later execution or a newer status of this one is shown. When the
 * execution has ended, it also writes whether the deployment is installed: active when no node instance is in a state other than
 * started.
 */
export async function writeExecutionStatus(
  tx: AnyTx,
  key: number,
  execution: LatestExecution,
  hasEnded: boolean,
): Promise<void> {
  const [row] = await prepared<{
    latest_status: string | null;
    installation_status: string;
    is_latest: boolean;
    is_related: boolean;
  }>(
    tx,
    {
      name: 'deployments-execution',
      text: 'select * from write_execution_status($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    },
    [key, ...statusValues(execution, hasEnded), execution.version],
  );
  noteChanged(tx, [key]);
  if (!row!.is_latest) await setOwnStatus(tx, key, ownStatus(row!.latest_status, row!.installation_status));
  else if (row!.is_related) await refreshFamily(tx, [key]);
}

export interface ExecutionNote {
  tenant: string;
  deploymentId: string;
  execution: LatestExecution;
  hasEnded: boolean;
  /** States of the execution up to this number count as repeats from now on; 0: none. */
  stateSeq: number;
}

export interface NoteResult {
  /** False: nothing was written, and a transaction is needed. */
  isDone: boolean;
  /** Whether targets of its dependencies are values of functions (commands/resolve-dependencies.ts). */
  hasComputed: boolean;
}

/**
 * Does the lock, the settling and `writeExecutionStatus` of each note in one statement, for deployments without a family and
 * without a later execution.
 */
export async function noteExecutions(
  db: Pick<Db<DB>, 'statement'>,
  notes: readonly ExecutionNote[],
): Promise<NoteResult[]> {
  const values = notes.map(({ tenant, deploymentId, execution, hasEnded, stateSeq }) => [
    tenant,
    deploymentId,
    ...statusValues(execution, hasEnded),
    stateSeq,
    execution.version,
  ]);
  return await db.statement<NoteResult>(NOTE, [JSON.stringify(values)]);
}

/**
 * Runs in the order of the notes: of two notes about one deployment the later one counts. `hasComputed` is not computed by
 * `exists`: the planner may evaluate `exists` for all deployments at once, with hundreds of them for a handful of notes.
 */
const NOTE = {
  name: 'deployments-note-executions',
  text: `select note_execution(v->>0, v->>1, v->>2, v->>3, v->>4, (v->>5)::integer, (v->>6)::integer, (v->>7)::boolean,
      (v->>8)::timestamptz, v->>9, v->>10, (v->>11)::bigint, (v->>12)::bigint) as "isDone",
      coalesce((select true from deployments d join inter_deployment_dependencies i on i.source_key = d.key
        where d.tenant = v->>0 and d.id = v->>1 and i.target_deployment_func is not null limit 1), false) as "hasComputed"
    from jsonb_array_elements($1::jsonb) v`,
};

async function setOwnStatus(tx: AnyTx, key: number, own: SummaryStatus): Promise<void> {
  const isRelated = await hasFamily(tx, key);
  await sql`update deployments set own_status = ${own} ${isRelated ? sql`` : sql`, deployment_status = ${own}`} where key = ${key}`.execute(
    tx,
  );
  if (isRelated) await refreshFamily(tx, [key]);
}
