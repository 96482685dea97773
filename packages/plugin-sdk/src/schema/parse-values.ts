import type { JsonObject } from '@baton/kernel';
import { FatalError } from '../errors';
import type { ObjectSchema } from './describe';

/**
 * Checks the declared values and fills in defaults. Values that the schema does not declare, for instance inherited properties,
 * are left out. `what`: the beginning of a name in errors, for instance `properties`.
 * @throws FatalError that names each wrong value, without showing it
 */
export function parseValues(
  schema: ObjectSchema,
  values: Readonly<Record<string, unknown>>,
  what: string,
): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.shape)) {
    const value = values[name];
    // A property without a value may be there as null.
    const isAbsent = value === undefined || (value === null && !accepts(member, null));
    if (!isAbsent) own[name] = value;
  }
  const parsed = schema.safeParse(own);
  if (parsed.success) return parsed.data as JsonObject;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${[what, ...path.map(String)].join('.')}: ${message}`,
  );
  throw new FatalError(problems.join('; '));
}

const accepts = (schema: ObjectSchema['shape'][string], value: unknown): boolean =>
  (schema as { safeParse?(value: unknown): { success: boolean } }).safeParse?.(value).success === true;
