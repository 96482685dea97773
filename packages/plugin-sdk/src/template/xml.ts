import { isJsonObject } from '@baton/kernel';
import { requireWeight } from './bounds';
import { TemplateError } from './tokens';
import { toText, type Value } from './values';

const NAME = /^[A-Za-z_][\w.:-]*$/;
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ESCAPES[one]!);

/**
 * A dictionary as XML: keys are elements, `@name` is an attribute, `#text` the text beside attributes, and a list several elements of
 * one name.
 * @throws TemplateError for a name that no element can have
 */
export function toXml(value: Value): string {
  if (!isJsonObject(value)) return escaped(toText(value));
  const written = Object.entries(value).map(([name, inner]) => elements(name, inner));
  requireWeight(written.reduce((sum, text) => sum + text.length, 0));
  return written.join('');
}

function elements(name: string, value: Value): string {
  if (!NAME.test(name)) throw new TemplateError(`toxml: "${name}" is no name of an element`, 0);
  if (Array.isArray(value)) return value.map((one) => elements(name, one)).join('');
  if (!isJsonObject(value)) {
    const text = typeof value === 'boolean' ? String(value) : value === null ? '' : escaped(toText(value));
    return `<${name}>${text}</${name}>`;
  }
  const entries = Object.entries(value);
  const attributes = entries
    .filter(([key]) => key.startsWith('@'))
    .map(([key, inner]) => ` ${attributeName(key)}="${escaped(toText(inner))}"`);
  const inside = entries
    .filter(([key]) => !key.startsWith('@'))
    .map(([key, inner]) => (key === '#text' ? escaped(toText(inner)) : elements(key, inner)));
  return `<${name}${attributes.join('')}>${inside.join('')}</${name}>`;
}

function attributeName(key: string): string {
  const name = key.slice(1);
  if (!NAME.test(name)) throw new TemplateError(`toxml: "${name}" is no name of an attribute`, 0);
  return name;
}
