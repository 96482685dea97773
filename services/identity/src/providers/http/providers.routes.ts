import type { Principal } from '@baton/contracts';
import { identityProviderRoutes } from '@baton/contracts/http/identity-providers';
import { type BoundRoute, bindRoutes } from '@baton/http';
import type { Db } from '@baton/postgres';
import type { Passwords } from '../../adapters/passwords';
import { systemAdmin } from '../../domain/roles';
import { forbidden } from '../../queries/rights';
import type { DB as Tables } from '../../store/tables.gen';
import type { DirectoryProbe } from '../adapters/directory-probe';
import type { OidcClient } from '../adapters/oidc-client';
import { addProviderUser, changeProvider, deleteProvider, putProvider } from '../commands/change-provider';
import type { Sealer } from '../domain/sealed-text';
import { readProvider, readProviders } from '../queries/read-providers';
import { testProvider } from '../queries/test-provider';

interface ProvidersDeps {
  db: Db<Tables>;
  passwords: Passwords;
  sealer: Sealer;
  oidc: OidcClient;
  probe: DirectoryProbe;
}

export function providersHttp(deps: ProvidersDeps): BoundRoute[] {
  const asked = (call: { principal: Principal; params: Record<string, string> }): string => {
    requireAdministrator(call.principal);
    return call.params.provider_id!;
  };
  return bindRoutes(identityProviderRoutes, {
    listIdentityProviders: async (call) => {
      requireAdministrator(call.principal);
      return { items: await readProviders(deps) };
    },
    putIdentityProvider: async (call) => {
      const id = asked(call);
      await putProvider(deps, id, call.body);
      return readProvider(deps, id);
    },
    getIdentityProviderById: (call) => readProvider(deps, asked(call)),
    changeIdentityProvider: async (call) => {
      const id = asked(call);
      await changeProvider(deps, id, call.body);
      return readProvider(deps, id);
    },
    deleteIdentityProvider: async (call) => {
      await deleteProvider(deps, asked(call));
    },
    testIdentityProvider: (call) => testProvider(deps, asked(call)),
    addProviderUser: async (call) => {
      const provider = asked(call);
      const { username, subject } = call.body;
      await addProviderUser(deps, provider, { username, subject });
      return { username, provider, subject };
    },
  });
}

/** Requires the role itself: whoever decides about mappings can make administrators. @throws AppError forbidden_error */
function requireAdministrator(principal: Principal): void {
  if (principal.isBootstrapAdmin || principal.role === systemAdmin) return;
  throw forbidden(principal, 'ldap_set', '');
}
