import { type OperationAssignment, secretsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

export interface SecretsClient {
  /** Values of secrets as the execution's creator sees them; unknown and hidden ones are missing. */
  values(assignment: Pick<OperationAssignment, 'tenant' | 'createdBy'>, keys: string[]): Promise<unknown[]>;
}

/** Used to know what must not appear in logs; operations get secrets through their evaluated inputs. */
export function createSecretsClient(rpc: RpcConnector): SecretsClient {
  const client = rpc.client(secretsRpc.SecretsServiceDefinition, 'secrets');
  return {
    values: async ({ tenant, createdBy }, keys) => {
      const answer = await client.getSecretValues({
        tenant,
        keys,
        username: createdBy,
        isAdministrator: false,
      });
      return Object.values(answer.valuesJson).map((json) => JSON.parse(json) as unknown);
    },
  };
}
