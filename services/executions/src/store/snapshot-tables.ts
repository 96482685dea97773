/** The tables of executions in a snapshot (packages/snapshot-part): executions, graphs, operations, events. */
import {
  commonlyCleared,
  commonlyKept,
  importsKept,
  type SnapshotClient,
  type SnapshotTables,
  type SwitchContext,
} from '@baton/snapshot-part';
import { RESTORE_VERSIONS } from './rows';

const UNDER_WAY = 'It was under way when the snapshot was made';

/** Condition for executions that a restore ends: all that have not ended, except those scheduled for a future time. */
const ENDED_BY_RESTORE = `phase <> 'ended' and not (status = 'scheduled' and scheduled_for > app_now())`;

export const snapshotTables: SnapshotTables = {
  kept: {
    ...commonlyKept,
    ...importsKept,
    workers: 'processes that report here',
    deployment_guards: 'rows to lock, made when missing',
  },
  cleared: {
    ...commonlyCleared,
    event_batches: 'numbers of batches that workers may repeat',
    event_chunks: 'events are counted anew in the background',
    event_chunks_reopened: 'the same',
    event_counts: 'the same',
    event_looks: 'the same',
    event_messages: 'the same',
    event_nodes: 'the same',
    event_places: 'the same',
    event_values: 'the same',
    status_changes: 'told to webhooks before the restore, or not at all',
    row_counts: 'counted anew by triggers while the rows are loaded',
  },
  contents: [],
  condition: (table, { includeEvents, includeLogs }) => {
    if (table !== 'events' || (includeEvents && includeLogs)) return null;
    return includeEvents ? 'not is_log' : includeLogs ? 'is_log' : 'false';
  },
  surviving: { executions: 'id = $1', events: 'execution_id = $1' },
  afterLoad: endRestored,
  notes: async (client) => {
    const { rows } = await client.query(
      `select count(*)::float8 as count from executions where ${ENDED_BY_RESTORE} and workflow_id <> 'create_snapshot'`,
    );
    return rows[0].count === 0
      ? []
      : [`${rows[0].count} executions that were under way come back as cancelled`];
  },
};

/**
 * Ends restored executions. Leases are not restored, and no execution continues: every unfinished one ends as cancelled in the
 * engine's usual way (phase `ending`), so that its last states reach deployments and its statuses follow. Versions differ from
 * all earlier ones, so replicas read graphs of the replaced state in their memory again.
 */
async function endRestored(client: SnapshotClient, context: SwitchContext): Promise<void> {
  await client.query(
    `update executions set status = 'terminated', phase = 'ended', error = '', ended_at = app_now(),
       outcome = '{"status": "terminated", "error": ""}', cancel_requested_at = null
     where id = $1::uuid and phase <> 'ended'`,
    [context.createdByExecution],
  );
  await client.query(
    `update executions set phase = 'ending', wake_at = null, version = version + $2,
       status = case when phase = 'waiting' then 'cancelling' else status end,
       outcome = coalesce(outcome, $3::jsonb)
     where ${ENDED_BY_RESTORE} and id <> $1::uuid`,
    [context.executionId, RESTORE_VERSIONS, JSON.stringify({ status: 'cancelled', error: UNDER_WAY })],
  );
  await client.query(
    `update executions set version = version + $2 where phase = 'ended' and id <> $1::uuid`,
    [context.executionId, RESTORE_VERSIONS],
  );
  await client.query(
    `update schedule_occurrences set outcome = 'skipped', reason = $1, decided_at = app_now() where outcome = 'due'`,
    [UNDER_WAY],
  );
  await client.query(
    `update tasks set worker_id = null, lease_until = null, is_kill_requested = false
     where worker_id is not null or lease_until is not null`,
  );
}
