import type { FindUser } from '@baton/contracts';
import { secretsProviderRoutes } from '@baton/contracts/http/secrets-providers';
import { answer, type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { badParameter, type JsonObject } from '@baton/kernel';
import { changeProvider, checkProvider, createProvider, removeProvider } from '../commands/change-provider';
import { getProvider, listProviders } from '../queries/read-providers';
import type { ValueDeps } from '../queries/read-value';

type Given = { connection_parameters?: Record<string, unknown> | null };
const parametersOf = ({ connection_parameters: given }: Given) => given as JsonObject | null | undefined;

function required<T>(field: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw badParameter(field, `${field} is missing`);
}

/** Routes of secrets providers: stores of secrets outside the manager (reference/rest-api.md 5.23). */
export function providersHttp(deps: ValueDeps & { findUser: FindUser }): BoundRoute[] {
  return bindRoutes(secretsProviderRoutes, {
    listSecretsProviders: async ({ principal, list }) =>
      listEnvelope(await listProviders(deps, principal, list), list),
    getSecretsProvider: ({ principal, params }) => getProvider(deps, principal, params.provider_name!),
    async createSecretsProvider({ principal, body }) {
      const input = { ...body, connection_parameters: parametersOf(body) };
      if (body.test) {
        await checkProvider(deps, principal, body.name, input);
        return answer({ status: 204 });
      }
      const name = required('name', body.name);
      await createProvider(deps, principal, name, { ...input, type: required('type', body.type) });
      return getProvider(deps, principal, name);
    },
    async updateSecretsProvider({ principal, params, body }) {
      const name = params.provider_name!;
      const input = { ...body, connection_parameters: parametersOf(body) };
      if (body.test) {
        await checkProvider(deps, principal, name, input);
        return answer({ status: 204 });
      }
      await changeProvider(deps, principal, name, input);
      return getProvider(deps, principal, name);
    },
    async deleteSecretsProvider({ principal, params }) {
      await removeProvider(deps, principal, params.provider_name!);
      return answer({ status: 204 });
    },
  });
}
