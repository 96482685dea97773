import { badParameter, type Json, type JsonObject } from '@baton/kernel';

/** Returns the value that a JSON pointer (RFC 6901) names; undefined: there is none. Only own members count. */
function valueAt(body: Json, pointer: string): Json | undefined {
  let value: Json | undefined = body;
  for (const part of pointer.slice(1).split('/')) {
    if (typeof value !== 'object' || value === null) return undefined;
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^(0|[1-9]\d{0,8})$/.test(name) ? value[Number(name)] : undefined;
    else value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/**
 * Returns the parameters of the workflow: the fixed ones, and the values that the table names in the body. Nothing else of the body
 * reaches the workflow.
 * @throws AppError bad_parameters_error naming the pointer that leads nowhere.
 */
export function mapParameters(
  body: Json,
  { parameters, fixed }: { parameters: Readonly<Record<string, string>>; fixed: JsonObject },
): JsonObject {
  const mapped: JsonObject = {};
  for (const [name, pointer] of Object.entries(parameters)) {
    const value = valueAt(body, pointer);
    if (value === undefined)
      throw badParameter(
        `body${pointer}`,
        `The body has nothing at ${pointer} for the parameter \`${name}\``,
        {
          parameter: name,
        },
      );
    mapped[name] = value;
  }
  return { ...fixed, ...mapped };
}
