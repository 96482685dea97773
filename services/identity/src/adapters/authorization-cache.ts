import type { Db } from '@baton/postgres';
import { type Authorization, buildAuthorization } from '../domain/principal';
import { readAuthorization } from '../store/authorization.sql';
import type { DB as Tables } from '../store/tables.gen';

/** Returns the permission table at `revision` or later; reads it again only when the revision has increased. */
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
    // The running load may have begun before the change was committed: then load again.
    return loaded.revision >= revision ? loaded : load();
  };
}
