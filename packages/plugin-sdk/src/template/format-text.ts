import { requireWeight } from './bounds';
import { toText, type Value } from './values';

/** Widest field that a format makes. */
const MAX_WIDTH = 1000;

/** Python's `text % values`: %s, %d, %i, %f, %x, with width and precision. */
export function percentFormat(text: string, values: readonly Value[]): string {
  let at = 0;
  return text.replace(/%(?:%|(-?0?)(\d*)(?:\.(\d+))?([sdifx]))/g, (all, flags, width, precision, kind) => {
    if (all === '%%') return '%';
    const value = values[at++];
    const shown = shownAs(kind as string, value, precision === undefined ? undefined : Number(precision));
    const space = Math.min(Number(width || 0), MAX_WIDTH);
    if (String(flags).startsWith('-')) return shown.padEnd(space);
    return shown.padStart(space, flags === '0' ? '0' : ' ');
  });
}

function shownAs(kind: string, value: Value, precision: number | undefined): string {
  if (kind === 's') return precision === undefined ? toText(value) : toText(value).slice(0, precision);
  const number = Number(value);
  if (kind === 'f') return number.toFixed(Math.min(precision ?? 6, 20));
  return Math.trunc(number).toString(kind === 'x' ? 16 : 10);
}

/** Python's `'{} {name}'.format(...)`, without formats of numbers. */
export function braceFormat(
  text: string,
  values: readonly Value[],
  named: Readonly<Record<string, Value>>,
): string {
  let at = 0;
  return text.replace(/\{\{|\}\}|\{(\w*)\}/g, (all, name: string | undefined) => {
    if (all === '{{' || all === '}}') return all[0]!;
    if (!name) return toText(values[at++]);
    return /^\d+$/.test(name)
      ? toText(values[Number(name)])
      : toText(Object.hasOwn(named, name) ? named[name] : undefined);
  });
}

/** Replaces all `from`. @throws TemplateError before the result gets too large */
export function replaced(text: string, from: string, to: string): string {
  const times = from === '' ? text.length + 1 : text.split(from).length - 1;
  requireWeight(text.length + times * to.length);
  return text.replaceAll(from, to);
}

/** Joins texts. @throws TemplateError before the result gets too large */
export function joined(texts: readonly string[], by: string): string {
  requireWeight(texts.reduce((sum, text) => sum + text.length + by.length, 0));
  return texts.join(by);
}
