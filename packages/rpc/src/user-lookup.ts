import { type FindUser, identityRpc } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import type { RpcConnector } from './definition';

/** Creates the lookup of users by name at identity, for requests that name the owner of a resource. Not inside a transaction. */
export function createUserLookup(rpc: RpcConnector): FindUser {
  const client = rpc.client(identityRpc.IdentityServiceDefinition, 'identity');
  return async (username) => {
    try {
      const { principal } = await client.getPrincipal({ username, tenant: '' });
      return principal ? { username: principal.username, userId: principal.userId } : null;
    } catch (error) {
      if (isAppError(error, 'not_found_error') || isAppError(error, 'unauthorized_error')) return null;
      throw error;
    }
  };
}
