import { contactRoutes } from '@baton/contracts/http/contacts';
import { type BoundRoute, bindRoutes } from '@baton/http';
import type { Db } from '@baton/postgres';
import { registerContact } from '../commands/register-contact';
import type { DB } from '../store/tables.gen';
import { type Edition, requireCommunity } from './edition';

/** Registration of a community edition (reference/rest-api.md 5.12). */
export function contactsHttp(deps: { db: Db<DB>; edition: Edition }): BoundRoute[] {
  return bindRoutes(contactRoutes, {
    async createContact({ body }) {
      requireCommunity(deps.edition);
      return { customer_id: await registerContact(deps, body) };
    },
  });
}
