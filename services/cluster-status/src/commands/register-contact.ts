import { badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { customerId, organisationOf } from '../domain/contact';
import { insertContact, type NewContact } from '../store/contacts.sql';
import type { DB } from '../store/tables.gen';

/**
 * Registers the user of a community edition; returns the customer id. @throws AppError bad_parameters_error when the license
 * agreement is not accepted.
 */
export async function registerContact(
  { db }: { db: Db<DB> },
  { is_eula: isAgreed, ...contact }: Omit<NewContact, 'organisation'> & { is_eula: boolean },
): Promise<string> {
  if (!isAgreed) throw badParameter('is_eula', 'The license agreement must be accepted', { expected: true });
  const organisation = organisationOf(contact.email);
  const number = await db.tx((tx) => insertContact(tx, { ...contact, organisation }));
  return customerId(organisation, number);
}
