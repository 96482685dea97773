import { serviceAccountRoutes } from '@baton/contracts/http/service-accounts';
import { answer, type BoundRoute, bindRoutes } from '@baton/http';
import type { Db } from '@baton/postgres';
import type { Passwords } from '../../adapters/passwords';
import type { DB as Tables } from '../../store/tables.gen';
import type { WorkloadTokens } from '../adapters/workload-tokens';
import { createAccount, createAccountToken, deleteAccount, setTrust } from '../commands/change-accounts';
import { exchangeToken } from '../commands/exchange-token';
import { readAccount, readAccounts } from '../queries/read-accounts';

interface AccountsDeps {
  db: Db<Tables>;
  passwords: Passwords;
  workloads: WorkloadTokens;
  nowMs: () => Promise<number>;
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

export function accountsHttp(deps: AccountsDeps): BoundRoute[] {
  return bindRoutes(serviceAccountRoutes, {
    listServiceAccounts: async () => ({ items: await readAccounts(deps) }),
    createServiceAccount: async (call) => {
      await createAccount(deps, call.body, call.principal.username);
      return readAccount(deps, call.body.name);
    },
    getServiceAccount: (call) => readAccount(deps, call.params.account_name!),
    setServiceAccountTrust: async (call) => {
      await setTrust(deps, call.params.account_name!, call.body.trust);
      return readAccount(deps, call.params.account_name!);
    },
    deleteServiceAccount: async (call) => {
      await deleteAccount(deps, call.params.account_name!);
    },
    createServiceAccountToken: async (call) => {
      const { description, expiration_date: expirationDate } = call.body;
      const made = await createAccountToken(deps, call.params.account_name!, { description, expirationDate });
      return {
        id: made.id,
        value: made.value,
        description: made.description!,
        expiration_date: made.expirationDate!,
      };
    },
    exchangeToken: async (call) => {
      const { subject_token: token, service_account: account } = call.body;
      // The audit log has the exchange in the name of the service account, if it succeeds.
      call.principal = { ...call.principal, username: account };
      const { value, lifeMs } = await exchangeToken(deps, call.log, { token, account });
      return answer({
        headers: { 'cache-control': 'no-store' },
        body: {
          access_token: value,
          issued_token_type: ACCESS_TOKEN,
          token_type: 'N_A',
          expires_in: lifeMs / 1000,
        },
      });
    },
  });
}
