import { AppError, badParameter } from '@baton/kernel';

/** Names of the variables of a template for ids and display names (reference/rest-api.md 5.6). */
const VARIABLES = ['group_id', 'uuid', 'count', 'blueprint_id', 'site_name'] as const;
type Variable = (typeof VARIABLES)[number];
export type TemplateValues = Record<Variable, string>;

export const DEFAULT_ID_TEMPLATE = '{group_id}-{uuid}';

/**
 * Replaces `{name}` by its value; an unknown name in braces is an error in ids, and plain text in display names.
 * @throws AppError bad_parameters_error naming the field.
 */
export function fillTemplate(
  template: string,
  values: TemplateValues,
  field: string,
  isStrict: boolean,
): string {
  return template.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    if (VARIABLES.some((one) => one === name)) return values[name as Variable];
    if (!isStrict) return whole;
    throw badParameter(field, `${field}: the template \`${template}\` has no variable \`${name}\``, {
      expected: VARIABLES.map((one) => `{${one}}`),
    });
  });
}

/**
 * Refuses equal ids.
 * @throws AppError conflict_error when two of `ids` are the same: their template has no {uuid} and no {count}.
 */
export function refuseDoubles(ids: readonly string[], field: string): void {
  const seen = new Set<string>();
  for (const [i, id] of ids.entries()) {
    if (seen.has(id)) {
      throw new AppError('conflict_error', `Deployment with ID \`${id}\` is asked for more than once`, {
        field: `${field}.${i}.id`,
        expected: 'a template with {uuid} or {count}, or different ids',
      });
    }
    seen.add(id);
  }
}
