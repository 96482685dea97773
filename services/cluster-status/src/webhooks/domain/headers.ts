/** Additional headers of a webhook. */
import { badParameter } from '@baton/kernel';

/** Headers that the request itself needs, that prove its origin, or that change how it is framed. */
const OURS =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer|proxy-.*|webhook-.*)$/i;
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII, spaces and tabs: nothing that ends a line. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Returns the headers with names in small letters. @throws AppError bad_parameters_error naming the header. */
export function checkedHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const field = `headers.${name.slice(0, 128)}`;
    if (!NAME.test(name)) throw badParameter(field, 'The name of the header is not well formed');
    if (OURS.test(name)) throw badParameter(field, `The header \`${name}\` is set by the manager`);
    if (!VALUE.test(value))
      throw badParameter(field, 'The value of the header has characters that headers cannot have', {
        expected: 'visible ASCII characters and spaces',
      });
    checked[name.toLowerCase()] = value;
  }
  return checked;
}
