import { secretsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import type { IdentityPort } from './identity.client';

export interface SecretReading {
  /** Name -> value, as text. */
  values: Map<string, unknown>;
  missing: string[];
  hidden: string[];
}

/** The secrets service: values are read when they are used, and are never stored or cached. */
export interface SecretsPort {
  /** Reads secrets on behalf of `username`; identity is asked whether that user is an administrator unless it is known. */
  read(
    tenant: string,
    names: readonly string[],
    on: { username: string; isAdministrator?: boolean },
  ): Promise<SecretReading>;
}

export function createSecretsClient(rpc: RpcConnector, identity: IdentityPort): SecretsPort {
  const client = rpc.client(secretsRpc.SecretsServiceDefinition, 'secrets');
  return {
    async read(tenant, names, { username, isAdministrator }) {
      if (names.length === 0) return { values: new Map(), missing: [], hidden: [] };
      const isAdmin =
        isAdministrator ?? (username !== '' && (await identity.isAdministrator(username, tenant)));
      const answer = await client.getSecretValues({
        tenant,
        keys: [...new Set(names)],
        username,
        isAdministrator: isAdmin,
      });
      const values = new Map(
        Object.entries(answer.valuesJson).map(([name, text]) => [name, JSON.parse(text) as unknown]),
      );
      return { values, missing: answer.missing, hidden: answer.hidden };
    },
  };
}
