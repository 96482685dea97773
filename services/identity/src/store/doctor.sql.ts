import { heldForEver, type TableCheck } from '@baton/snapshot-part';

/** The doctor's checks of identity's tables; `reopen` opens tenants whose removal was interrupted. */
export const doctorChecks = (reopen: () => Promise<unknown>): TableCheck[] => [
  {
    name: 'tenant-closing',
    repair: 'the tenant is open again',
    find: `select name as id, 'its removal was begun at ' || closing_since || ' and has not ended' as about
      from tenants where closing_since < app_now() - interval '10 minutes'`,
    mend: reopen,
  },
  heldForEver({
    name: 'remains-held',
    table: 'former_tenants',
    key: 'name',
    what: 'what a removed tenant left',
    open: 'cleared_at is null',
    until: 'clear_after',
  }),
];
