import { providerContextRoutes } from '@baton/contracts/http/provider-context';
import { answer, type BoundRoute, bindRoutes } from '@baton/http';
import type { Db } from '@baton/postgres';
import { setProviderContext } from '../commands/set-provider-context';
import { getProviderContext } from '../queries/provider-context';
import type { DB } from '../store/tables.gen';

const ID = 'CONTEXT';

/** Provider context (reference/rest-api.md 5.19). */
export function providerContextHttp(deps: { db: Db<DB> }): BoundRoute[] {
  return bindRoutes(providerContextRoutes, {
    getProviderContext: async () => ({ id: ID, ...(await getProviderContext(deps)) }),
    async postProviderContext({ body, query }) {
      const isUpdate = query.update === true;
      await setProviderContext(deps, body, isUpdate);
      return answer({ status: isUpdate ? 200 : 201, body: { status: 'ok' } });
    },
  });
}
