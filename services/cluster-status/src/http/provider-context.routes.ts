import { providerContextRoutes } from '@baton/contracts/http/provider-context';
import { answer, type BoundRoute, bindRoutes } from '@baton/http';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { readProviderContext, writeProviderContext } from '../store/provider-context.sql';
import type { DB } from '../store/tables.gen';

const ID = 'CONTEXT';

/** Provider context (reference/rest-api.md 5.19). */
export function providerContextHttp({ db }: { db: Db<DB> }): BoundRoute[] {
  return bindRoutes(providerContextRoutes, {
    async getProviderContext() {
      const found = await readProviderContext(db.query);
      if (!found) throw none();
      return { id: ID, ...found };
    },
    async postProviderContext({ body, query }) {
      const isUpdate = query.update === true;
      const isWritten = await db.tx((tx) => writeProviderContext(tx, body, isUpdate));
      if (isWritten) return answer({ status: isUpdate ? 200 : 201, body: { status: 'ok' } });
      throw isUpdate
        ? none()
        : new AppError('conflict_error', 'There is a provider context already; update=true replaces it', {
            field: 'update',
          });
    },
  });
}

function none(): AppError {
  return new AppError('not_found_error', 'There is no provider context');
}
