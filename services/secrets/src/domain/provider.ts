/** Secrets providers: their types, and the connection parameters of each type (reference/rest-api.md 8.1). */
import { badParameter, type JsonObject } from '@baton/kernel';
import { z } from 'zod';

export const providerTypes = ['local', 'vault', 'cloudify'] as const;
export type ProviderType = (typeof providerTypes)[number];

const word = z.string().min(1).max(4096);
/** Refuses path parts that a server would resolve to another path. */
const path = word.refine(
  (text) => text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
  'must be names separated by single slashes',
);
const host = z
  .string()
  .max(256)
  .regex(/^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?$/i, 'must be a host, with a port if need be');

const parameters = {
  local: z.object({}).strict(),
  /** Key-value store, version 2. */
  vault: z
    .object({
      url: z.url({ protocol: /^https?$/ }).max(2048),
      token: word,
      path,
      mount: path.default('secret'),
    })
    .strict(),
  cloudify: z
    .object({
      host,
      username: word,
      password: word,
      tenant: word,
      protocol: z.enum(['http', 'https']).default('https'),
    })
    .strict(),
};

export type Connection =
  | { type: 'local' }
  | ({ type: 'vault' } & z.output<typeof parameters.vault>)
  | ({ type: 'cloudify' } & z.output<typeof parameters.cloudify>);

/** Checks connection parameters. @throws AppError bad_parameters_error that names the field, never its value. */
export function connectionOf(type: ProviderType, given: JsonObject | null | undefined): Connection {
  const parsed = parameters[type].safeParse(given ?? {});
  if (parsed.success) return { type, ...parsed.data } as Connection;
  const [issue] = parsed.error.issues;
  const field = ['connection_parameters', ...issue!.path].join('.');
  throw badParameter(field, `${field}: ${reasonOf(issue!)}`, {
    expected: Object.keys(parameters[type].shape),
  });
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `there is no parameter ${issue.keys.join(', ')}`;
  return issue.message;
}

/** Returns the name of a secret's value at its provider. @throws AppError bad_parameters_error */
export function nameAtProvider(key: string, options: JsonObject | null): string {
  const name = options?.path ?? key;
  if (path.safeParse(name).success) return name as string;
  throw badParameter('provider_options.path', 'provider_options.path must be names separated by slashes', {
    expected: 'text',
  });
}
