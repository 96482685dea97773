import { badParameter, parseInstant } from '@baton/kernel';

const FORM = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})([+-])(\d{2})(\d{2})$/;

/**
 * Returns the epoch ms of `YYYYMMDDHHMM+HHMM` (spec v3.1 part 2 "Executions") or of any date in input (reference/rest-api.md 4.1,
 * 5.7).
 * @throws AppError bad_parameters_error for another form or a time in the past.
 */
export function parseScheduleTime(field: string, text: string, nowMs: number): number {
  const match = FORM.exec(text);
  const iso = match
    ? `${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:00${match[6]}${match[7]}:${match[8]}`
    : text;
  const at = parseInstant(iso);
  if (at === null) {
    throw badParameter(field, `${field}: "${text}" is no time`, {
      expected: 'YYYYMMDDHHMM+HHMM or YYYYMMDDHHMM-HHMM',
      value: text,
    });
  }
  if (at <= nowMs)
    throw badParameter(field, `${field}: ${text} has passed`, {
      expected: 'a time in the future',
      value: text,
    });
  return at;
}
