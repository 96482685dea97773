import { isJsonObject, type Json } from '@baton/kernel';

const LEAST_LENGTH = 4;
const LEAST_LINE_LENGTH = 8;
const HIDDEN = '********';

/** Hides known secret values in texts of one operation. */
export interface Masks {
  /** Marks all texts inside `value`, at any depth, as secret from now on. */
  add(value: unknown): void;
  hide(text: string): string;
  /** Returns where to cut a text so that no secret lies across the cut (plugin-runtime's host.ts). */
  cut(text: string, at: number, side: 'before' | 'after'): number;
}

/**
 * Hides secrets in texts, keys and numbers of a JSON value; the result stays JSON. Replacing in the JSON text would not be safe:
 * there a secret may look like syntax (`null`, a number, a quote at its end).
 */
export function hideIn(value: Json, hide: (text: string) => string): Json {
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'number') return hide(String(value)) === String(value) ? value : HIDDEN;
  if (Array.isArray(value)) return value.map((item) => hideIn(item, hide));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hideIn(item, hide)]));
}

/** Creates the masks. Values shorter than 4 characters are not hidden: they would mask half of every line. */
export function createMasks(): Masks {
  let hidden: string[] = [];
  const known = new Set<string>();
  const addText = (text: string): void => {
    const lines = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.length >= LEAST_LINE_LENGTH);
    for (const plain of [text, text.trim(), ...lines]) {
      if (plain.length < LEAST_LENGTH) continue;
      const forms = [plain, JSON.stringify(plain).slice(1, -1), encodeURIComponent(plain)];
      for (const form of [
        ...forms,
        Buffer.from(plain).toString('base64'),
        Buffer.from(plain).toString('hex'),
      ])
        known.add(form);
    }
  };
  const add = (value: unknown): void => {
    if (typeof value === 'string') addText(value);
    else if (typeof value === 'number') addText(String(value));
    else if (Array.isArray(value)) value.forEach(add);
    else if (isJsonObject(value)) Object.values(value).forEach(add);
    // The longest first, so that no part of a longer secret stays visible.
    hidden = [...known].sort((a, b) => b.length - a.length);
  };
  return {
    add,
    hide: (text) => {
      let shown = text;
      for (const secret of hidden) if (shown.includes(secret)) shown = shown.replaceAll(secret, HIDDEN);
      return shown;
    },
    cut: (text, at, side) => {
      let place = side === 'before' && at >= text.length ? beginningAtEnd(text, hidden) : at;
      for (;;) {
        const next = clear(text, place, side, hidden);
        if (next === place) return place;
        place = next;
      }
    },
  };
}

/** Returns the position of the longest beginning of a secret that ends the text; without one, the length of the text. */
function beginningAtEnd(text: string, secrets: readonly string[]): number {
  let at = text.length;
  for (const secret of secrets) {
    const first = Math.max(0, text.length - secret.length + 1);
    for (let i = text.indexOf(secret[0]!, first); i >= 0 && i < at; i = text.indexOf(secret[0]!, i + 1))
      if (secret.startsWith(text.slice(i))) at = i;
  }
  return at;
}

/** Returns the position before or after all secrets that lie across `place`; without any, `place` itself. */
function clear(text: string, place: number, side: 'before' | 'after', secrets: readonly string[]): number {
  let cleared = place;
  for (const secret of secrets) {
    const first = Math.max(0, place - secret.length + 1);
    for (let i = text.indexOf(secret, first); i >= 0 && i < place; i = text.indexOf(secret, i + 1))
      cleared = side === 'before' ? Math.min(cleared, i) : Math.max(cleared, i + secret.length);
  }
  return cleared;
}
