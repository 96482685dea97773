import { heldForEver, type TableCheck } from '@baton/snapshot-part';

const UNFINISHED = `state in ('pending', 'uploading', 'extracting', 'parsing')`;

/**
 * Condition of stuck uploads: waiting ones that no replica has taken for ten minutes, and those that have not ended within two
 * hours.
 */
export const IS_STUCK = `${UNFINISHED} and (updated_at < app_now() - interval '2 hours'
  or (updated_at < app_now() - interval '10 minutes' and (lease_until is null or lease_until < app_now() - interval '10 minutes')))`;

/** The doctor's checks of catalog's tables; `giveUp` ends an upload as failed. */
export const doctorChecks = (giveUp: (uploadId: string) => Promise<unknown>): TableCheck[] => [
  heldForEver({
    name: 'upload-held',
    table: 'blueprints',
    key: 'upload_id::text',
    what: 'the upload of a blueprint',
    open: UNFINISHED,
  }),
  {
    name: 'upload-stuck',
    repair: 'the upload has failed; the blueprint can be deleted and uploaded again',
    find: `select upload_id as id, 'blueprint ' || id || ' of ' || tenant || ' is ' || state || ' since ' || updated_at as about
      from blueprints where ${IS_STUCK}`,
    mend: giveUp,
  },
];
