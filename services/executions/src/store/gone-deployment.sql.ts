import { type RawBuilder, sql } from 'kysely';

/** A deleted deployment; a new one with the same id may exist. */
export interface GoneDeployment {
  tenant: string;
  deploymentId: string;
  /** The execution that created the deployment; null when the message about the deletion comes from an older release. */
  madeBy: string | null;
  /** Time of the deletion, ISO, in whole milliseconds. */
  at: string;
}

/**
 * Returns the condition for rows of `alias` that belong to the deleted deployment. A row of unknown origin is judged by its
 * creation time.
 */
export const ofGone = ({ madeBy, at, ...gone }: GoneDeployment, alias: string): RawBuilder<unknown> => {
  const row = (column: string) => sql.ref(`${alias}.${column}`);
  return sql`(${row('tenant')} = ${gone.tenant} and ${row('deployment_id')} = ${gone.deploymentId} and
    case when ${row('deployment_made_by')} is null or ${madeBy}::text is null
      then ${row('created_at')} < ${at}::timestamptz + interval '1 millisecond'
      else ${row('deployment_made_by')} = ${madeBy} end)`;
};
