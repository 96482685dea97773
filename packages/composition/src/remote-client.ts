import { isIP } from 'node:net';
import type { JsonObject } from '@baton/kernel';
import { z } from 'zod';
import { parsed } from './settings';

const text = z
  .string()
  .nullish()
  .transform((value) => (value === '' ? undefined : (value ?? undefined)));
const texts = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
  .nullish();

const schema = z.looseObject({
  host: text,
  port: z.union([z.number().int(), z.string().regex(/^\d+$/).transform(Number)]).nullish(),
  protocol: z.enum(['http', 'https']).nullish(),
  api_version: text,
  headers: texts,
  query_params: texts,
  cert: text,
  trust_all: z.boolean().nullish(),
  username: text,
  password: text,
  token: text,
  tenant: text,
});

/** `client` of a node: connection settings of another manager (dsl.md, cloudify.datatypes.RemoteCloudifyManagerClient). */
export type RemoteClientConfig = z.output<typeof schema>;

/** @throws FatalError with path and expected value. */
export function remoteClientConfig(value: JsonObject, at: string): RemoteClientConfig {
  return parsed(schema, value, at);
}

/** Default ports as in the original's client: 80, with https 443. */
export function remoteBaseUrl(config: RemoteClientConfig): string {
  const protocol = config.protocol ?? (config.port === 443 ? 'https' : 'http');
  const host = config.host ?? 'localhost';
  const port = config.port ?? (protocol === 'https' ? 443 : 80);
  return `${protocol}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** The part of the settings that a dependency shows to everybody with the right to read dependencies: no credentials. */
export function publicPart({ host, port, protocol, tenant }: RemoteClientConfig): JsonObject {
  return Object.fromEntries(
    Object.entries({ host, port, protocol, tenant }).filter(
      ([, value]) => value !== undefined && value !== null,
    ),
  ) as JsonObject;
}
