import { AppError, err, nearestName, ok, type Result } from '@baton/kernel';
import { Ajv } from 'ajv';
import type { ConfigDefinition } from '../domain/config-items';

const MASK = '********';
const ajv = new Ajv();

/** A configuration value that a user has set; it overrides the shipped value. */
export interface ConfigRow {
  scope: string;
  name: string;
  value: unknown;
  updated_at: string;
  updater_name: string;
}

/** One item of GET /config (reference/rest-api.md 5.21). */
export function presentConfig(
  definition: ConfigDefinition,
  row: ConfigRow | undefined,
  isAdministrator: boolean,
) {
  return {
    name: definition.name,
    value: definition.isAdminOnly && !isAdministrator ? MASK : currentValue(definition, row),
    scope: definition.scope,
    schema: definition.schema,
    is_editable: definition.isEditable,
    admin_only: definition.isAdminOnly,
    updated_at: row?.updated_at ?? null,
    updater_name: row?.updater_name ?? null,
  };
}

export function currentValue(definition: ConfigDefinition, row: ConfigRow | undefined): unknown {
  return row ? row.value : definition.shipped;
}

/** Returns the definition that `name` or `scope.name` refers to; errors not_found_error, ambiguous_name. */
export function findConfig(
  definitions: readonly ConfigDefinition[],
  asked: string,
): Result<ConfigDefinition, AppError> {
  const found = definitions.filter((one) => one.name === asked || `${one.scope}.${one.name}` === asked);
  if (found.length === 1) return ok(found[0]!);
  if (found.length === 0) {
    const nearest = nearestName(
      asked,
      definitions.map((one) => one.name),
    );
    return err(
      new AppError(
        'not_found_error',
        `There is no configuration value \`${asked}\``,
        nearest ? { nearest } : {},
      ),
    );
  }
  const names = found.map((one) => `${one.scope}.${one.name}`);
  return err(
    new AppError('ambiguous_name', `\`${asked}\` is in several scopes: ${names.join(', ')}`, {
      expected: names,
    }),
  );
}

/**
 * Returns the error that refuses to set `value`, or null when the value is allowed. Refused: a value that is not editable,
 * without force (409); a value against the schema (409); an admin_only value set by a user who is no administrator (401, as in
 * the original). null resets a value whose shipped value is null.
 */
export function configRefusal(
  definition: ConfigDefinition,
  change: { value: unknown; isForced: boolean; isAdministrator: boolean },
): AppError | null {
  const { name, schema } = definition;
  if (definition.isAdminOnly && !change.isAdministrator)
    return new AppError('unauthorized_error', `Only administrators may set \`${name}\``);
  if (!definition.isEditable && !change.isForced)
    return new AppError('conflict_error', `\`${name}\` is not editable; force sets it nevertheless`, {
      field: name,
    });
  if (schema === null || (change.value === null && definition.shipped === null)) return null;
  if (ajv.validate(schema, change.value)) return null;
  return new AppError(
    'conflict_error',
    `The value of \`${name}\` breaks its schema: ${ajv.errorsText(ajv.errors, { dataVar: 'value' })}`,
    { field: 'value', expected: schema },
  );
}
