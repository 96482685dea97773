import { type Db, prepared, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { behind, type Place, type Placed, placedAt } from '../../store/round.sql';
import type { InstanceStateRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

const DELETE = {
  name: 'engine-states-delivered',
  text: 'delete from instance_states where execution_id = $1 and seq <= $2',
};

/** Returns the states that deployments may not know yet, oldest first: those after `after`, the last one that it surely has. */
export async function pendingStates(
  reader: Reader,
  executionId: string,
  { after = 0, limit = null }: { after?: number; limit?: number | null } = {},
): Promise<InstanceStateRow[]> {
  const { rows } = await sql<InstanceStateRow>`
    select seq, node_instance_id, state, edits from instance_states where execution_id = ${executionId} and seq > ${after}
    order by seq limit ${limit}`.execute(reader);
  return rows;
}

/** Deletes the states that deployments has applied: all up to `seq`, because deployments is told them in order. */
export async function deleteStates(
  db: Pick<Db<DB>, 'pool'>,
  executionId: string,
  seq: number,
): Promise<void> {
  await prepared(db as Db<DB>, DELETE, [executionId, seq]);
}

/** Returns the executions with states that have waited for delivery longer than `olderThanMs`. */
export async function undeliveredExecutions(
  reader: Reader,
  olderThanMs: number,
  limit: number,
  place: Place | null,
): Promise<Placed[]> {
  const { rows } = await sql<Placed>`
    select id, ${placedAt(sql`since`)} from (
      select execution_id as id, min(created_at) as since from instance_states group by execution_id
    ) undelivered
    where since < app_now() - make_interval(secs => ${olderThanMs / 1000}) and ${behind(place, sql`since`, sql`id`)}
    order by since, id limit ${limit}`.execute(reader);
  return rows;
}
