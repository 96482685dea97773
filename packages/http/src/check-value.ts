import { AppError, type ErrorDetails, nearestName } from '@baton/kernel';
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** `inputs.ports[0]`; empty for the value itself. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${String(key)}` : String(key),
    '',
  );
}

/** Returns the most specific issue: for a union, that of the branch that matched furthest. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const branches = issue.errors.filter((b) => b.length > 0).map((branch) => deepest(branch[0]!));
  const best = branches.sort((a, b) => b.path.length - a.path.length)[0];
  return best && best.path.length > 0 ? { ...best, path: [...issue.path, ...best.path] } : issue;
}

function detailsOf(issue: Issue, known: readonly string[]): ErrorDetails {
  const field = pathText(issue.path);
  switch (issue.code) {
    case 'invalid_type':
      return { field, expected: issue.expected };
    case 'invalid_value':
      return { field, expected: issue.values.map(String) };
    case 'unrecognized_keys': {
      const key = issue.keys[0] ?? '';
      const nearest = nearestName(key, known);
      return { field: field ? `${field}.${key}` : key, expected: known, ...(nearest ? { nearest } : {}) };
    }
    case 'invalid_format':
      return { field, expected: issue.pattern ? `text like ${issue.pattern}` : issue.format };
    case 'too_small':
      return { field, expected: `at least ${issue.minimum}` };
    case 'too_big':
      return { field, expected: `at most ${issue.maximum}` };
    default:
      return { field, expected: issue.message };
  }
}

/** Keys that an object schema defines; none for other schemas. */
export function keysOf(schema: z.ZodType | undefined): string[] {
  const shape = (schema as { shape?: Record<string, unknown> } | undefined)?.shape;
  return shape ? Object.keys(shape) : [];
}

/**
 * Returns the error 400 bad_parameters_error for the first problem, with `field`, `expected` and (for a misspelt name) `nearest`;
 * further problems are listed in `problems`. `where` names the part of the request: body, query, path.
 */
function badValue(error: z.ZodError, where: string, known: readonly string[]): AppError {
  const issues = error.issues.map(deepest);
  const first = issues[0]!;
  const details = detailsOf(first, known);
  const nearest = details.nearest ? ` - did you mean \`${String(details.nearest)}\`?` : '';
  const field = details.field ? ` \`${String(details.field)}\`` : '';
  const more =
    issues.length > 1
      ? { problems: issues.slice(0, 20).map((i) => ({ field: pathText(i.path), message: i.message })) }
      : {};
  return new AppError('bad_parameters_error', `Invalid ${where}${field}: ${first.message}${nearest}`, {
    ...details,
    ...more,
  });
}

/** Returns `value` parsed by `schema`. @throws AppError bad_parameters_error */
export function checkValue<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw badValue(result.error, where, keysOf(schema));
}
