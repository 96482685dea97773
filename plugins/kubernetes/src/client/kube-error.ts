import { FatalError, RetryableError } from '@baton/plugin-sdk';
import * as z from 'zod';

const STATUS = z.looseObject({
  message: z.string().default(''),
  reason: z.string().default(''),
  details: z
    .looseObject({
      retryAfterSeconds: z.number().optional(),
      causes: z
        .array(
          z.looseObject({
            reason: z.string().optional(),
            message: z.string().optional(),
            field: z.string().optional(),
          }),
        )
        .optional(),
    })
    .nullish(),
});

export type KubeStatus = z.output<typeof STATUS>;

/** Nothing is wrong with the request. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
const MAX_MESSAGE = 1_000;

/** The object Status of a refusal; an empty one for other bodies. */
function statusOf(text: string): KubeStatus {
  try {
    return STATUS.parse(JSON.parse(text));
  } catch {
    return { message: text.slice(0, MAX_MESSAGE), reason: '', details: null };
  }
}

/** The error of an answer that is no success: says what was asked, and what the API said. */
export function refusal(what: string, code: number, text: string): Error {
  const { message, reason, details } = statusOf(text);
  const said = (message || reason || 'no reason given').slice(0, MAX_MESSAGE);
  if (code === 401)
    return new FatalError(`${what}: the cluster does not know these credentials (401): ${said}`);
  if (code === 403) return new FatalError(`${what}: the credentials have no right to this (403): ${said}`);
  const shown = `${what}: the cluster answered ${code}: ${said}`;
  if (PASSING.has(code)) return new RetryableError(shown, { retryAfter: details?.retryAfterSeconds ?? null });
  return new FatalError(shown);
}

/** Fields of an apply that belong to other managers: what is wrong, and what can be done. */
export function conflictError(what: string, text: string): FatalError {
  const { message, details } = statusOf(text);
  const fields = (details?.causes ?? [])
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field, message: who }) => `${field ?? '?'} (${who ?? '?'})`);
  const shown = fields.length > 0 ? fields.join(', ') : message.slice(0, MAX_MESSAGE);
  return new FatalError(
    `${what}: others own fields with other values: ${shown}. Leave these fields out of the definition, or let heal or an update of the ` +
      'deployment take them over',
  );
}
