/**
 * The tables of identity in snapshots (packages/snapshot-part): passwords are included as hashes, tokens and sessions not at all.
 */
import { commonlyCleared, commonlyKept, importsKept, type SnapshotTables } from '@baton/snapshot-part';
import { bootstrapAdminId } from '../domain/principal';

export const snapshotTables: SnapshotTables = {
  kept: {
    ...commonlyKept,
    ...importsKept,
    authorization_state:
      'its revision goes up with a restore, so that every replica reads the table of roles again',
  },
  cleared: {
    ...commonlyCleared,
    tokens: 'a restore ends every session and token',
    sessions: 'the same',
    sign_in_codes: 'the same',
    used_login_states: 'the same',
    device_logins: 'the same',
    device_code_tries: 'the same',
  },
  contents: [],
  // The administrator of this manager keeps the current password, so that the person who restores can still log in.
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
    // The provider is asked for them again at the next sign-in.
    await client.query('update provider_users set refresh_sealed = null');
    await client.query('update tenants set closing_since = null');
    await client.query('update authorization_state set revision = revision + 1');
  },
};
