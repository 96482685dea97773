import { readFile, stat } from 'node:fs/promises';
import { type BaseScope, FatalError } from '@baton/plugin-sdk';
import type { Connection } from './connection';
import { secretsOf } from './connection';
import { readKubeconfig } from './kubeconfig';
import type { Authentication, ClientConfig, Configuration } from './schema';

type Scope = Pick<BaseScope, 'ctx' | 'hide'>;

const MAX_FILE_BYTES = 1024 * 1024;

const CLOUDS: [name: keyof Authentication, missing: string][] = [
  ['gcp_service_account', 'the token service of Google Cloud'],
  ['azure_service_account', 'the API of Azure (listClusterUserCredential)'],
  ['aws_access_key_id', 'the token service of AWS (STS) for EKS'],
];

/**
 * The connection that a client_config describes. Its secrets are masked from then on.
 * @throws FatalError for a configuration that is incomplete, and for authentication that needs a cloud
 */
export async function resolveConnection(
  scope: Scope,
  { configuration = {}, authentication = {} }: ClientConfig,
): Promise<Connection> {
  for (const [name, missing] of CLOUDS)
    if (authentication[name])
      throw new FatalError(
        `client_config.authentication.${name} needs ${missing}, which this plugin does not call: give ` +
          'authentication.service_account_token, or a kubeconfig with a token',
      );
  const connection = await connectionOf(scope, configuration);
  if (authentication.service_account_token) connection.token = authentication.service_account_token.trim();
  for (const secret of secretsOf(connection)) scope.hide(secret);
  if (!/^https?:\/\//.test(connection.server))
    throw new FatalError('client_config: the address of the API must begin with https:// or http://');
  if (secretsOf(connection).length > 0 && isClear(connection.server))
    throw new FatalError(
      'client_config: the address begins with http://, and would show the credentials to the network: use https://',
    );
  return connection;
}

/** On the machine itself nobody listens. */
const isClear = (server: string): boolean =>
  server.startsWith('http://') && !/^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:\d+)?(\/|$)/.test(server);

async function connectionOf(scope: Scope, configuration: Configuration): Promise<Connection> {
  const {
    blueprint_file_name: file,
    manager_file_path: path,
    file_content: content,
    api_options: options,
  } = configuration;
  // Files and contents first, as in the original: api_options then replaces their parts.
  const base = file
    ? readKubeconfig(await textOf(scope, file), `the kubeconfig ${file}`)
    : path
      ? readKubeconfig(await localText(path), `the kubeconfig ${path}`)
      : content
        ? readKubeconfig(content, 'client_config.configuration.file_content')
        : null;
  if (options === undefined || Object.values(options).every((value) => value === undefined || value === '')) {
    if (base !== null) return base;
    throw new FatalError(
      'client_config.configuration is empty: expected blueprint_file_name, file_content, manager_file_path or api_options.host',
    );
  }
  const host = options.host || base?.server;
  if (!host) throw new FatalError('client_config.configuration.api_options.host is missing');
  const server = (/^[a-z]+:\/\//i.test(host) ? host : `https://${host}`).replace(/\/+$/, '');
  const pem = async (value: string | undefined, old: string | undefined): Promise<string | undefined> =>
    value ? await pemOf(scope, value) : old;
  return {
    ...base,
    server,
    token: (options.api_key || options.token || base?.token)?.replace(/^Bearer\s+/i, '').trim(),
    tls: {
      ...base?.tls,
      ca: await pem(options.ssl_ca_cert, base?.tls.ca),
      cert: await pem(options.cert_file, base?.tls.cert),
      key: await pem(options.key_file, base?.tls.key),
      ...(isFalse(options.verify_ssl) ? { verify: false } : {}),
    },
  };
}

const isFalse = (value: unknown): boolean =>
  value === false || ['false', 'no', '0'].includes(String(value).toLowerCase());

async function pemOf(scope: Scope, value: string): Promise<string> {
  if (value.includes('-----BEGIN')) return value;
  const text = value.startsWith('/') ? await localText(value) : await textOf(scope, value);
  if (!text.includes('-----BEGIN')) throw new FatalError(`client_config: ${value} is no PEM file`);
  return text;
}

const textOf = async ({ ctx }: Scope, path: string): Promise<string> =>
  Buffer.from(await ctx.getResource(path)).toString('utf8');

/** A file of the machine of the worker, as far as the process of the plugin may read it. */
async function localText(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_FILE_BYTES)
      throw new FatalError(`client_config: ${path} is no file of at most ${MAX_FILE_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof FatalError) throw cause;
    throw new FatalError(
      `client_config: the file ${path} cannot be read: ${(cause as { code?: string }).code}`,
      { cause },
    );
  }
}
