import { badParameter } from '@baton/kernel';

const NAME = /^[A-Za-z][A-Za-z0-9._~-]{0,255}$/;
const MAX_TEXT = 1_024;

/** Whether `text` can be a user name (reference/rest-api.md 4.1); any other text need not be looked up. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Checks names of tenants, users and groups. @throws AppError bad_parameters_error */
export function requireName(field: string, text: string): string {
  if (isName(text)) return text;
  throw badParameter(field, `Invalid ${field} \`${text.slice(0, 100)}\``, {
    expected: 'an ASCII letter, then at most 255 letters, digits, "-", ".", "_" or "~"',
  });
}

/** Checks free text for the database: not empty, bounded, without control characters. @throws AppError bad_parameters_error */
export function requireText(field: string, text: string, maxLength = MAX_TEXT): string {
  if (text.length > 0 && text.length <= maxLength && !/[\u0000-\u001f\u007f]/.test(text)) return text;
  throw badParameter(field, `Invalid ${field}`, {
    expected: `1 to ${maxLength} characters, no control characters`,
  });
}

const MIN_PASSWORD = 5;
const MAX_PASSWORD = 256;

/** @throws AppError bad_parameters_error when the length is not allowed; the text never contains the password. */
export function requirePassword(password: string): string {
  if (password.length >= MIN_PASSWORD && password.length <= MAX_PASSWORD) return password;
  throw badParameter(
    'password',
    `Invalid password: it must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`,
    {
      expected: `${MIN_PASSWORD} to ${MAX_PASSWORD} characters`,
    },
  );
}
