/** Texts that no column can hold: with NUL, or with half of a surrogate pair. */
import { AppError, badParameter, isAppError } from '@baton/kernel';

const EXPECTED = 'text without NUL characters and halves of surrogate pairs';
// With the flag `u` a complete pair counts as one character, so a match is a half.
const isUnstorable = (text: string): boolean => text.includes('\0') || /\p{Surrogate}/u.test(text);

/** @throws AppError bad_parameters_error naming the parameter: no stored text can match such a text. */
export function refuseUnstorable(parameters: Readonly<Record<string, string | string[] | undefined>>): void {
  for (const [name, value] of Object.entries(parameters)) {
    const texts = [name, ...(Array.isArray(value) ? value : [value ?? ''])];
    if (!texts.some(isUnstorable)) continue;
    throw badParameter(name, `${name}: the text holds a character that cannot be stored`, {
      expected: EXPECTED,
    });
  }
}

/** Returns the place of such a text in a JSON value, e.g. `labels.0.env`; null: there is none. Keys are checked too. */
export function unstorablePlace(value: unknown): string | null {
  const open: { value: unknown; place: string }[] = [{ value, place: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: at, place } = next;
    if (typeof at === 'string' && isUnstorable(at)) return place === '' ? 'body' : place;
    if (typeof at !== 'object' || at === null) continue;
    for (const [key, inner] of Object.entries(at).reverse()) {
      const below = place === '' ? key : `${place}.${key}`;
      if (isUnstorable(key)) return below;
      open.push({ value: inner, place: below });
    }
  }
  return null;
}

/** Adds the field to an error of the database, which names none: the place in the body is found here. */
export function placed(error: unknown, body: unknown): unknown {
  if (!isAppError(error, 'bad_parameters_error') || error.details.field !== undefined) return error;
  const field = unstorablePlace(body);
  if (field === null) return error;
  return new AppError(error.code, error.message, { ...error.details, field }, { cause: error });
}
