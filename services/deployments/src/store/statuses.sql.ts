import { type AnyTx, type Db, prepared } from '@baton/postgres';
import { sql } from 'kysely';
import { combineStatuses, type FamilyMember, ownStatus, type SummaryStatus } from '../domain/statuses';
import { DEPLOYMENT_ROW, type DeploymentRow } from './deployments.sql';
import type { DB } from './tables.gen';

/** Writes of the status columns of reference/rest-api.md 6.4. Family rows are locked in key order. */

/**
 * Locks `keys` and every deployment above them in key order. Whoever will refresh a family does this first, so that two
 * of them cannot wait for each other.
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

/** Deployments above `keys`, without themselves, locked. */
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

/** The deployment of a tenant, locked as by `lockUpwards`; null when there is none. */
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
 * Recomputes combined statuses and counts of `keys` and of everything above them, in a constant number of statements.
 * `own_status` of `keys` must be written before.
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
}

/** Whether some deployment is related by csys-obj-parent at all: most are not and need no refresh. */
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
  /** ISO time of a resumption that has no version: the same execution goes on, unless it ended after that. */
  resumedAt?: string;
  id: string;
  /** Of the execution's row on which the status was decided: an older one than is shown changes nothing. 0: none told. */
  version: number;
  status: string;
  workflowId: string;
  totalOperations: number;
  finishedOperations: number;
}

/** As both functions of migration 0096 take it. */
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
 * Writes the latest execution of a locked deployment, unless a later one or a newer status of this one is shown, and, when
 * the execution ended, whether the deployment is installed: active when no node instance is in a state other than started.
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
  if (!row!.is_latest) await setOwnStatus(tx, key, ownStatus(row!.latest_status, row!.installation_status));
  else if (row!.is_related) await refreshFamily(tx, [key]);
}

export interface ExecutionNote {
  tenant: string;
  deploymentId: string;
  execution: LatestExecution;
  hasEnded: boolean;
  /** States of the execution up to this number are repeats from now on; 0: none. */
  stateSeq: number;
}

export interface NoteResult {
  /** False: nothing was written, it takes a transaction. */
  isDone: boolean;
  /** Targets of its dependencies are values of functions (commands/resolve-dependencies.ts). */
  hasComputed: boolean;
}

/**
 * Lock, settling and `writeExecutionStatus` of each in one statement, where the deployment has no family and no later
 * execution.
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
 * In the order of the notes: of two about one deployment the later one counts. `hasComputed` is not asked with `exists`:
 * that one the planner may answer for all deployments at once, with hundreds of them for a handful of notes.
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
