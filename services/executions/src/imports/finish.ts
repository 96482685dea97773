import type { ImportContext } from '@baton/import-part';
import { takenExecutions } from './records';

/** Executions that one statement handles. */
const AT_A_TIME = 5_000;

/**
 * Brings what depends on several records in line: numbers of events, blueprints of executions, and the ends that deployments has to
 * hear of, which are the latest of each deployment. The loop of owed ends tells them (engine/commands/tell-owed-ends.ts).
 */
export async function finishExecutions(context: ImportContext): Promise<void> {
  const written = [...takenExecutions(context)].filter(
    ([, { fate, hasEvents, lastSeq }]) =>
      fate === 'imported' || fate === 'replaced' || (fate === 'same' && lastSeq !== null && !hasEvents),
  );
  for (let at = 0; at < written.length; at += AT_A_TIME) {
    const some = written.slice(at, at + AT_A_TIME);
    const unordered = some.filter(([, { isUnordered }]) => isUnordered).map(([id]) => id);
    if (unordered.length > 0) await context.client.query(RENUMBER, [unordered]);
    await context.client.query(COUNT, [some.map(([id]) => id)]);
  }
  const taken = written.filter(([, { fate }]) => fate !== 'same').map(([id]) => id);
  for (let at = 0; at < taken.length; at += AT_A_TIME)
    await context.client.query(OWE_ENDS, [context.tenant, taken.slice(at, at + AT_A_TIME)]);
}

const RENUMBER = `update events v set seq = n.seq from (
    select created_at, storage_id, row_number() over (partition by execution_id order by created_at, storage_id) as seq
    from events where execution_id = any($1::uuid[])) n
  where v.created_at = n.created_at and v.storage_id = n.storage_id and v.seq <> n.seq`;

const COUNT = `update executions e set last_event_seq = n.last, blueprint_id = coalesce(e.blueprint_id, n.blueprint)
  from (select execution_id, max(seq) as last, max(blueprint_id) as blueprint from events
    where execution_id = any($1::uuid[]) group by 1) n where e.id = n.execution_id`;

/** An end of a deletion is not told: the deployment is in the archive, so that it did not go. */
const OWE_ENDS = `update executions e set wake_at = app_now() from (
    select distinct on (deployment_id) id from executions
    where tenant = $1 and deployment_id in (select deployment_id from executions where id = any($2::uuid[]))
      and workflow_id <> 'delete_deployment_environment' order by deployment_id, created_at desc, id desc) l
  where e.id = l.id and e.id = any($2::uuid[])`;
