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

/** `client` of a node: how another manager is reached (dsl.md, cloudify.datatypes.RemoteCloudifyManagerClient). */
export type RemoteClientConfig = z.output<typeof schema>;

/** @throws FatalError with path and what was expected. */
export function remoteClientConfig(value: JsonObject, at: string): RemoteClientConfig {
  return parsed(schema, value, at);
}

/** Ports as the original's client chooses them: 80, with https 443. */
export function remoteBaseUrl(config: RemoteClientConfig): string {
  const protocol = config.protocol ?? (config.port === 443 ? 'https' : 'http');
  const host = config.host ?? 'localhost';
  const port = config.port ?? (protocol === 'https' ? 443 : 80);
  return `${protocol}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** What a dependency shows of it to everybody who may read dependencies: no credentials. */
export function publicPart({ host, port, protocol, tenant }: RemoteClientConfig): JsonObject {
  return Object.fromEntries(
    Object.entries({ host, port, protocol, tenant }).filter(
      ([, value]) => value !== undefined && value !== null,
    ),
  ) as JsonObject;
}
