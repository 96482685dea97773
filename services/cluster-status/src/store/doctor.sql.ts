import { heldForEver, type TableCheck } from '@baton/snapshot-part';

const IS_STUCK = `s.status = 'creating' and s.created_at < app_now() - interval '60 seconds'
  and not exists (select 1 from snapshot_jobs j where j.tenant = s.tenant and j.snapshot_id = s.id and j.state <> 'ended')`;
const IS_FORGOTTEN = `status = 'creating' and is_reported`;

/** Checks of the doctor on the tables of cluster-status. */
export const doctorChecks: readonly TableCheck[] = [
  {
    name: 'snapshot-stuck',
    repair: 'the snapshot has failed, and can be deleted',
    find: `select s.tenant || '/' || s.id as id, 'is being made since ' || s.created_at || ', and nobody is at work on it' as about
      from snapshots s where ${IS_STUCK}`,
    mend: `update snapshots s set status = 'failed', error = 'The work on it has ended without an outcome'
      where s.tenant || '/' || s.id = $1 and ${IS_STUCK}`,
  },
  heldForEver({
    name: 'snapshot-held',
    table: 'snapshot_jobs',
    key: 'id::text',
    what: 'work on a snapshot',
    open: `state <> 'ended'`,
  }),
  {
    name: 'log-bundle-stuck',
    repair: 'it is made, or given up',
    find: `select tenant || '/' || id as id, 'is being made since ' || created_at || ', and nobody looks at it' as about
      from log_bundles where ${IS_FORGOTTEN}`,
    mend: `update log_bundles set is_reported = false, lease_until = null where tenant || '/' || id = $1 and ${IS_FORGOTTEN}`,
  },
  heldForEver({
    name: 'log-bundle-held',
    table: 'log_bundles',
    key: `tenant || '/' || id`,
    what: 'a log bundle',
    open: 'not is_reported',
  }),
  heldForEver({
    name: 'webhook-delivery-held',
    table: 'webhook_deliveries',
    key: 'id::text',
    what: 'a delivery of a webhook',
    open: `state = 'pending'`,
  }),
];
