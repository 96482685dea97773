import type { z } from 'zod';

/** The key in the metadata of a schema. Metadata stay when a schema is refined or described later. */
const KEY = 'batonSensitive';

/**
 * Marks a property, an input or a runtime property as sensitive. Its value is masked in log lines and errors of the operation.
 * A sensitive runtime property is never stored: an operation that sets one fails.
 */
export function sensitive<S extends z.ZodType>(schema: S): S {
  return schema.meta({ ...schema.meta(), [KEY]: true });
}

/** Whether `sensitive` marked the schema itself; parts and wrapped schemas are not looked at. */
export function isMarkedSensitive(schema: z.ZodType): boolean {
  return schema.meta()?.[KEY] === true;
}
