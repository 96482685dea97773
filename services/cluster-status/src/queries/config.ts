import type { Db } from '@baton/postgres';
import { type ConfigRow, currentValue, findConfig, presentConfig } from '../adapters/config-values';
import type { ConfigDefinition } from '../domain/config-items';
import { readConfig } from '../store/config.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
  definitions: readonly ConfigDefinition[];
}

/** An item of GET /config. */
export type ConfigItem = ReturnType<typeof presentConfig>;

/** Returns the items of all values, or of one scope. Values that only administrators may see are masked for other users. */
export async function listConfig(
  { db, definitions }: Deps,
  { isAdministrator, scope }: { isAdministrator: boolean; scope?: string },
): Promise<ConfigItem[]> {
  const rows = await readConfig(db.query);
  return definitions
    .filter((one) => scope === undefined || one.scope === scope)
    .map((one) => presentConfig(one, rowOf(rows, one), isAdministrator));
}

/** Returns the item that `name` or `scope.name` refers to. @throws AppError not_found_error; ambiguous_name */
export async function getConfig(
  { db, definitions }: Deps,
  name: string,
  { isAdministrator }: { isAdministrator: boolean },
): Promise<ConfigItem> {
  const definition = configNamed(definitions, name);
  return presentConfig(definition, rowOf(await readConfig(db.query), definition), isAdministrator);
}

/** Returns the values of a scope by their names, shipped ones included. `changed`: names of the values that a user has set. */
export async function configOfScope(
  { db, definitions }: Deps,
  scope: string,
): Promise<{ values: Record<string, unknown>; changed: string[] }> {
  const rows = await readConfig(db.query);
  const inScope = definitions.filter((one) => one.scope === scope);
  return {
    values: Object.fromEntries(inScope.map((one) => [one.name, currentValue(one, rowOf(rows, one))])),
    changed: inScope.filter((one) => rowOf(rows, one) !== undefined).map((one) => one.name),
  };
}

/** Returns the definition that `name` or `scope.name` refers to. @throws AppError not_found_error; ambiguous_name */
export function configNamed(definitions: readonly ConfigDefinition[], name: string): ConfigDefinition {
  const found = findConfig(definitions, name);
  if (!found.ok) throw found.error;
  return found.value;
}

const rowOf = (rows: Map<string, ConfigRow>, { scope, name }: ConfigDefinition) =>
  rows.get(`${scope}.${name}`);
