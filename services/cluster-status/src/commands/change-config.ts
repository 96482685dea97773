import { configChanged, hasPermission, isAdministrator, type Principal } from '@baton/contracts';
import { type Db, outbox } from '@baton/postgres';
import { configRefusal, presentConfig } from '../adapters/config-values';
import type { ConfigDefinition } from '../domain/config-items';
import { type ConfigItem, configNamed } from '../queries/config';
import { upsertConfig } from '../store/config.sql';
import type { DB } from '../store/tables.gen';

/**
 * Sets the value that `name` or `scope.name` refers to, and returns its item. Services are informed by a message; a service that
 * misses the message reads the values anyway every 10 s.
 * @throws AppError not_found_error; ambiguous_name; unauthorized_error for a value that only administrators may set;
 * conflict_error for a value that is not editable or breaks its schema.
 */
export async function changeConfig(
  { db, definitions }: { db: Db<DB>; definitions: readonly ConfigDefinition[] },
  principal: Principal,
  name: string,
  { value, isForced }: { value: unknown; isForced: boolean },
): Promise<ConfigItem> {
  const definition = configNamed(definitions, name);
  // The manager of a tenant administers the tenant, not the whole installation: admin_only values stay hidden from that user.
  const isAdmin = isAdministrator(principal) && hasPermission(principal, 'all_tenants');
  const refusal = configRefusal(definition, { value, isForced, isAdministrator: isAdmin });
  if (refusal) throw refusal;
  const { scope } = definition;
  const change = { scope, name: definition.name, value, username: principal.username };
  const row = await db.tx(async (tx) => {
    await outbox.append(tx, configChanged, { tenant: '', key: scope }, { scope });
    return await upsertConfig(tx, change);
  });
  return presentConfig(definition, row, isAdmin);
}
