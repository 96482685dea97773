import { identityRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** The `authorization` block of GET /config. */
export interface AuthorizationTable {
  roles: { id: number; name: string; type: string; description: string | null }[];
  permissions: Record<string, string[]>;
}

/** The calls to the identity service that GET /config needs. */
export interface IdentityPort {
  authorization(): Promise<AuthorizationTable>;
}

export function createIdentityClient(rpc: RpcConnector): IdentityPort {
  const client = rpc.client(identityRpc.IdentityServiceDefinition, 'identity');
  return {
    async authorization() {
      const { roles, permissions } = await client.getAuthorization({});
      return {
        roles: roles.map((role) => ({ ...role, description: role.description || null })),
        permissions: Object.fromEntries(permissions.map((one) => [one.permission, one.roles])),
      };
    },
  };
}
