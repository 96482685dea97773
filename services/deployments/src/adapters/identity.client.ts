import { type FindUser, identityRpc, type Principal } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import { createUserLookup, type RpcConnector } from '@baton/rpc';
import { LRUCache } from 'lru-cache';

/** The identity service as deployments sees it. */
export interface IdentityPort {
  isAdministrator(username: string, tenant: string): Promise<boolean>;
  findUser: FindUser;
  /** Returns the user with the current rights in `tenant`; null when the user is gone or locked, or the tenant does not exist. */
  principal(username: string, tenant: string): Promise<Principal | null>;
}

/** Error codes of identity for a user who may not act. */
const NOBODY = ['not_found_error', 'unauthorized_error', 'forbidden_error'] as const;

const CACHE_MS = 10_000;

export function createIdentityClient(rpc: RpcConnector): IdentityPort {
  const client = rpc.client(identityRpc.IdentityServiceDefinition, 'identity');
  const administrators = new LRUCache<string, boolean>({ max: 2000, ttl: CACHE_MS });
  return {
    async isAdministrator(username, tenant) {
      const key = `${tenant}\n${username}`;
      const known = administrators.get(key);
      if (known !== undefined) return known;
      try {
        const { principal } = await client.getPrincipal({ username, tenant });
        const isAdministrator =
          principal?.isBootstrapAdmin === true ||
          (principal?.permissions.includes('administrators') ?? false);
        administrators.set(key, isAdministrator);
        return isAdministrator;
      } catch (error) {
        if (isAppError(error, 'not_found_error') || isAppError(error, 'unauthorized_error')) return false;
        throw error;
      }
    },
    async principal(username, tenant) {
      try {
        const { principal } = await client.getPrincipal({ username, tenant });
        return (principal as Principal | undefined) ?? null;
      } catch (error) {
        if (NOBODY.some((code) => isAppError(error, code))) return null;
        throw error;
      }
    },
    findUser: createUserLookup(rpc),
  };
}
