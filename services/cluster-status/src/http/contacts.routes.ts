import { contactRoutes } from '@baton/contracts/http/contacts';
import { type BoundRoute, bindRoutes } from '@baton/http';
import { badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { customerId, organisationOf } from '../domain/contact';
import { insertContact } from '../store/contacts.sql';
import type { DB } from '../store/tables.gen';
import { type Edition, requireCommunity } from './edition';

/** Registration of a community edition (reference/rest-api.md 5.12). */
export function contactsHttp({ db, edition }: { db: Db<DB>; edition: Edition }): BoundRoute[] {
  return bindRoutes(contactRoutes, {
    async createContact({ body }) {
      requireCommunity(edition);
      if (!body.is_eula)
        throw badParameter('is_eula', 'The license agreement must be accepted', { expected: true });
      const organisation = organisationOf(body.email);
      const number = await db.tx((tx) => insertContact(tx, { ...body, organisation }));
      return { customer_id: customerId(organisation, number) };
    },
  });
}
