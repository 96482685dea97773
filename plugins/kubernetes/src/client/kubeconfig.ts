// Files of the format of kubectl (spec: "Organizing Cluster Access Using kubeconfig Files").
import { FatalError } from '@baton/plugin-sdk';
import { parse } from 'yaml';
import * as z from 'zod';
import type { Connection } from './connection';

const MAX_BYTES = 1024 * 1024;

const named = <T extends z.ZodType>(name: string, value: T) =>
  z.array(z.object({ name: z.string(), [name]: value })).default([]);

const CLUSTER = z.object({
  server: z.string(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
  'proxy-url': z.string().optional(),
});
const USER = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
  exec: z.looseObject({ command: z.string().optional() }).optional(),
  'auth-provider': z.looseObject({ name: z.string().optional() }).optional(),
});
const CONTEXT = z.object({
  cluster: z.string(),
  user: z.string().optional(),
  namespace: z.string().optional(),
});

const FILE = z.object({
  clusters: named('cluster', CLUSTER),
  users: named('user', USER),
  contexts: named('context', CONTEXT),
  'current-context': z.string().default(''),
});

type User = z.output<typeof USER>;

/**
 * Reads the current context of a kubeconfig. Programs (`exec`, `auth-provider`) are not run and files that it names are not read: a
 * blueprint would choose what runs, and what is sent to its server.
 * @param content text of YAML or JSON, or the parsed dictionary
 * @throws FatalError that never shows a value of the file
 */
export function readKubeconfig(content: unknown, where: string): Connection {
  const parsed = FILE.safeParse(typeof content === 'string' ? parseText(content, where) : content);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'the file'}: ${message}`,
    );
    throw new FatalError(`${where} is no kubeconfig: ${problems.slice(0, 5).join('; ')}`);
  }
  const file = parsed.data;
  const context = entryOf(
    file.contexts,
    'context',
    file['current-context'],
    `${where}: current-context`,
  ) as z.output<typeof CONTEXT>;
  const cluster = entryOf(
    file.clusters,
    'cluster',
    context.cluster,
    `${where}: the cluster of the context`,
  ) as z.output<typeof CLUSTER>;
  const user =
    context.user === undefined
      ? {}
      : (entryOf(file.users, 'user', context.user, `${where}: the user of the context`) as User);
  refusePrograms(user, where);
  refuseFiles({ ...cluster, ...user }, where);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    token: user.token?.trim() || undefined,
    basic: user.username === undefined ? undefined : { user: user.username, password: user.password ?? '' },
    tls: {
      ca: decoded(cluster['certificate-authority-data']),
      cert: decoded(user['client-certificate-data']),
      key: decoded(user['client-key-data']),
      verify: cluster['insecure-skip-tls-verify'] === true ? false : undefined,
      serverName: cluster['tls-server-name'],
    },
    proxy: cluster['proxy-url'],
    namespace: context.namespace,
  };
}

function parseText(text: string, where: string): unknown {
  if (text.length > MAX_BYTES) throw new FatalError(`${where} is longer than ${MAX_BYTES} characters`);
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    // The message of the parser shows lines of the file, and those hold credentials.
    const { linePos } = error as { linePos?: [{ line: number }] };
    throw new FatalError(`${where} is no YAML${linePos ? `: line ${linePos[0].line}` : ''}`);
  }
}

function entryOf(list: readonly Record<string, unknown>[], key: string, name: string, what: string): unknown {
  const found = list.find((entry) => entry.name === name);
  if (found !== undefined && found[key] !== undefined) return found[key];
  const names = list.map((entry) => String(entry.name));
  throw new FatalError(
    `${what} is ${JSON.stringify(name)}: expected one of ${names.join(', ') || '(none there)'}`,
  );
}

function refusePrograms(user: User, where: string): void {
  const kind =
    user.exec !== undefined ? 'exec' : user['auth-provider'] !== undefined ? 'auth-provider' : null;
  if (kind === null) return;
  const program = user.exec?.command ?? user['auth-provider']?.name ?? '';
  throw new FatalError(
    `${where} gets credentials from a program (${kind}: ${program.slice(0, 100)}). It is not run, since a blueprint would choose ` +
      'what runs: give a token or a certificate, for instance that of a service account',
  );
}

const FILES = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'] as const;

function refuseFiles(entries: Readonly<Record<string, unknown>>, where: string): void {
  const name = FILES.find((key) => entries[key] !== undefined && entries[`${key}-data`] === undefined);
  if (name !== undefined)
    throw new FatalError(
      `${where}: ${name} names a file: write its content, as kubectl config view --flatten does`,
    );
}

const decoded = (base64: string | undefined): string | undefined =>
  base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('utf8');
