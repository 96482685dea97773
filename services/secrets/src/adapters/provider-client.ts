/**
 * Reads values from secrets providers. Every call passes the same guard as all calls to addresses given by users, is limited in
 * time and size, and follows no redirect. Errors say only that the provider did not answer as expected.
 */
import type { SafeFetch } from '@baton/http';
import { AppError, type Json, type JsonObject, Secret } from '@baton/kernel';
import type { Connection } from '../domain/provider';
import { jsonText } from './secret-value';

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_ANSWER_MS = 5_000;

/** Connection to a provider outside of the manager. */
export type RemoteConnection = Exclude<Connection, { type: 'local' }>;

export interface ProviderClient {
  /** @throws AppError failed_dependency when the provider cannot be reached or refuses. */
  check(connection: RemoteConnection): Promise<void>;
  /** Returns the value with the name `name` at the provider, as text. @throws AppError failed_dependency */
  read(connection: RemoteConnection, name: string): Promise<Secret>;
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

interface Call {
  url: string;
  headers: Record<string, string>;
}

function vaultCall({ url, token, mount, path }: Extract<Connection, { type: 'vault' }>): Call {
  const base = url.replace(/\/+$/, '');
  return { url: `${base}/v1/${encoded(mount)}/data/${encoded(path)}`, headers: { 'x-vault-token': token } };
}

function managerCall(connection: Extract<Connection, { type: 'cloudify' }>, rest: string): Call {
  const { protocol, host, username, password, tenant } = connection;
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return {
    url: `${protocol}://${host}/api/v3.1/${rest}`,
    headers: { authorization: `Basic ${basic}`, tenant },
  };
}

const failed = (reason: string, cause?: unknown): AppError =>
  new AppError('failed_dependency', `The secrets provider cannot be used: ${reason}`, {}, { cause });

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function createProviderClient(fetch: SafeFetch): ProviderClient {
  const get = async ({ url, headers }: Call): Promise<JsonObject> => {
    const chunks: Buffer[] = [];
    try {
      const limits = { maxBytes: MAX_ANSWER_BYTES, totalMs: MAX_ANSWER_MS, field: 'connection_parameters' };
      for await (const chunk of await fetch(url, { ...limits, headers })) chunks.push(chunk);
    } catch (error) {
      if (error instanceof AppError) throw failed(error.message, error);
      // A header that cannot be sent: its value is a credential and must not appear in the error.
      throw failed('its address or credentials cannot be sent');
    }
    try {
      const answer: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      if (isObject(answer)) return answer;
    } catch {
      // Reported below, without the text: it may contain values.
    }
    throw failed('its answer is no JSON object');
  };
  const fieldsOf = async (connection: Extract<Connection, { type: 'vault' }>): Promise<JsonObject> => {
    const { data } = await get(vaultCall(connection));
    if (isObject(data) && isObject(data.data)) return data.data;
    throw failed('its answer is not one of a key-value store, version 2');
  };
  return {
    async check(connection) {
      if (connection.type === 'vault') await fieldsOf(connection);
      else await get(managerCall(connection, 'secrets?_size=1'));
    },
    async read(connection, name) {
      const holder =
        connection.type === 'vault'
          ? await fieldsOf(connection)
          : await get(managerCall(connection, `secrets/${encoded(name)}`));
      const field = connection.type === 'vault' ? name : 'value';
      if (!Object.hasOwn(holder, field)) throw failed(`it has no value \`${name}\``);
      const value = holder[field] as Json;
      return new Secret(typeof value === 'string' ? value : jsonText(value));
    },
  };
}
