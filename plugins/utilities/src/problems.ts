import type { ZodError } from 'zod';

/** The problems of values in one line, with their places. The values are not shown. */
export const problemsOf = (where: string, error: ZodError): string =>
  error.issues.map(({ path, message }) => `${[where, ...path.map(String)].join('.')}: ${message}`).join('; ');
