/** The hint below the control of a field. */
import { t } from '../text/text';
import type { FieldSpec } from './field-spec';

/** Returns description, type and limits as one line. Choices are not repeated: the control shows them. */
export function hintOf(field: FieldSpec): string {
  const parts = [
    field.description?.trim(),
    typeText(field),
    ...field.constraints.map(boundText),
    field.isComputed ? t.forms.computed : null,
  ];
  return parts.filter(Boolean).join(' · ');
}

function typeText(field: FieldSpec): string | null {
  const { types } = t.forms;
  if (field.control === 'choice') return null;
  if (field.control === 'json' && field.type === 'list') return t.forms.listAsJson;
  if (field.control === 'json' && !Object.hasOwn(types, field.type)) return t.forms.asJson(field.type);
  return types[field.type] ?? field.type;
}

function boundText(constraint: Record<string, unknown>): string | null {
  const { bounds } = t.forms;
  const [name, argument] = Object.entries(constraint).find(([key]) => key !== 'error_message') ?? [];
  if (name === undefined || (typeof argument === 'object' && !Array.isArray(argument))) return null;
  if (name === 'in_range')
    return Array.isArray(argument) ? bounds.in_range(String(argument[0]), String(argument[1])) : null;
  const words = Object.hasOwn(bounds, name) ? bounds[name as Exclude<keyof typeof bounds, 'in_range'>] : null;
  return words ? words(String(argument)) : null;
}
