/** Errors of the manager, assigned to the fields that they refer to. */
import { problemOf } from '../api/problem';
import type { Errors } from './drafts';

/**
 * Returns the errors by path of their fields: an error of `inputs.port` is shown at `port`. Errors are assigned only to fields in
 * `known`; `isWhole`: these errors are the complete refusal, so no other message is needed.
 */
export function refusalsOf(error: unknown, known: readonly string[]): { errors: Errors; isWhole: boolean } {
  if (!error) return { errors: {}, isWhole: true };
  const { details, message } = problemOf(error);
  const found = Array.isArray(details.diagnostics) ? (details.diagnostics as Found[]) : [];
  const all = found.length > 0 ? found : [{ path: String(details.field ?? ''), message }];
  const errors: Record<string, string> = {};
  let isWhole = true;
  for (const { path = '', message: words = '' } of all) {
    const place = path.replace(/^(inputs|parameters)\./, '');
    const isInput = place !== path && known.includes(/^[^.[]+/.exec(place)?.[0] ?? '');
    if (isInput) errors[place] ??= words;
    else isWhole = false;
  }
  return { errors, isWhole };
}

interface Found {
  path?: string;
  message?: string;
}
