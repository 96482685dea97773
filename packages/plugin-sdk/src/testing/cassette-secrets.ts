import type { Json } from '@baton/kernel';

const SHORTEST = 4;
/** Shorter values with the name of a secret are words such as Bearer. */
const SHORTEST_NAMED = 8;
/** Names of values that are secret in the answers of most services. */
const SECRET_NAME = /token|passw|secret|api.?key|private.?key|credential|authorization|session/i;
const PLACE = /\{\{(secret:[^{}]+|hidden:\d+)\}\}/g;

/**
 * Puts places in for values that must not be in a file, and values for places. A secret of the test has a place with its name. Any
 * other hidden value has a number, in the order in which the operation hides them; in a replay it is an invented value.
 */
export class CassetteSecrets {
  readonly #places = new Map<string, string>();
  readonly #values = new Map<string, string>();
  #numbers = 0;

  /** Knows a secret that the test gives, by its name. */
  give(name: string, value: string): void {
    this.#keep(`{{secret:${name}}}`, value);
  }

  /** Knows a value that the operation hides. */
  hide(value: string): void {
    if (value.length < SHORTEST || this.#places.has(value)) return;
    let place: string;
    do place = `{{hidden:${++this.#numbers}}}`;
    while (this.#values.has(place));
    this.#keep(place, value);
  }

  /** Hides values that are secret by their names. */
  hideNamed(value: Json, isSecret = false): void {
    if (typeof value === 'string' && isSecret && value.length >= SHORTEST_NAMED) this.hide(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value))
      this.hideNamed(inner, Array.isArray(value) ? isSecret : SECRET_NAME.test(name));
  }

  /** A text without hidden values, in whatever way they are written. */
  without(text: string): string {
    let shown = text;
    for (const [value, place] of [...this.#places].sort(([a], [b]) => b.length - a.length))
      for (const written of writings(value)) shown = shown.replaceAll(written, place);
    return shown;
  }

  /** A text with values for places. */
  with(text: string): string {
    return text.replace(PLACE, (place) => {
      const known = this.#values.get(place);
      if (known !== undefined) return known;
      const invented = `invented-${place.slice(2, -2).replace(/[^A-Za-z0-9]/g, '-')}`;
      this.#keep(place, invented);
      return invented;
    });
  }

  #keep(place: string, value: string): void {
    if (value.length >= SHORTEST) this.#places.set(value, place);
    this.#values.set(place, value);
  }
}

/** The ways in which a value stands in requests and answers; JSON may stand in JSON. */
function writings(value: string): string[] {
  const form = new URLSearchParams({ v: value }).toString().slice(2);
  const inJson = escaped(value);
  const coded = [encodeURIComponent(value), form, Buffer.from(value).toString('base64')];
  return [...new Set([value, inJson, escaped(inJson), ...coded])]
    .filter((written) => written.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** A JSON value with each of its texts changed. */
export function withTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => withTexts(inner, change));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withTexts(inner, change)]));
}
