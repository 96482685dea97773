import { type RawBuilder, sql } from 'kysely';

/** A deployment that is gone; there may be a new one of its id. */
export interface GoneDeployment {
  tenant: string;
  deploymentId: string;
  /** The execution that made it; null: an older release told that it is gone. */
  madeBy: string | null;
  /** When it went, ISO, in whole milliseconds. */
  at: string;
}

/** Rows of `alias` that are of it. What does not say which deployment it is of goes by the time it was made. */
export const ofGone = ({ madeBy, at, ...gone }: GoneDeployment, alias: string): RawBuilder<unknown> => {
  const row = (column: string) => sql.ref(`${alias}.${column}`);
  return sql`(${row('tenant')} = ${gone.tenant} and ${row('deployment_id')} = ${gone.deploymentId} and
    case when ${row('deployment_made_by')} is null or ${madeBy}::text is null
      then ${row('created_at')} < ${at}::timestamptz + interval '1 millisecond'
      else ${row('deployment_made_by')} = ${madeBy} end)`;
};
