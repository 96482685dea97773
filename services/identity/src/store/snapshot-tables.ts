/** The part of snapshots that identity has (packages/snapshot-part): passwords leave as hashes, tokens not at all. */
import { commonlyCleared, commonlyKept, type SnapshotTables } from '@baton/snapshot-part';
import { bootstrapAdminId } from '../domain/principal';

export const snapshotTables: SnapshotTables = {
  kept: {
    ...commonlyKept,
    authorization_state:
      'its revision goes up with a restore, so that every replica reads the table of roles again',
  },
  cleared: { ...commonlyCleared, tokens: 'a restore ends every session and token' },
  contents: [],
  // Whoever restores keeps the password that they know: the administrator of this manager stays who it is.
  beforeSwitch: async (client) => {
    await client.query(
      `create temporary table restoring_admin on commit drop as select password_hash from users where id = $1`,
      [bootstrapAdminId],
    );
  },
  afterLoad: async (client) => {
    await client.query(
      `update users set password_hash = a.password_hash, active = true, failed_logins = 0, last_failed_login_at = null
       from restoring_admin a where id = $1`,
      [bootstrapAdminId],
    );
    await client.query('update users set failed_logins = 0');
    await client.query('update tenants set closing_since = null');
    await client.query('update authorization_state set revision = revision + 1');
  },
};
