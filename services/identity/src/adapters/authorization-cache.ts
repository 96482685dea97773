import type { Db } from '@baton/postgres';
import { type Authorization, buildAuthorization } from '../domain/principal';
import { readAuthorization } from '../store/authorization.sql';
import type { DB as Tables } from '../store/tables.gen';

/** The permission table at `revision` or later; read again only when the revision moved. */
export type AuthorizationAt = (revision: number) => Promise<Authorization>;

export function createAuthorizationCache(db: Db<Tables>): AuthorizationAt {
  let current: Authorization | undefined;
  let loading: Promise<Authorization> | undefined;
  const load = async (): Promise<Authorization> => {
    const { revision, roles, grants } = await readAuthorization(db);
    current = buildAuthorization(revision, roles, grants);
    return current;
  };
  return async (revision) => {
    if (current && current.revision >= revision) return current;
    loading ??= load().finally(() => {
      loading = undefined;
    });
    const loaded = await loading;
    // A load that began before the change was committed.
    return loaded.revision >= revision ? loaded : load();
  };
}
