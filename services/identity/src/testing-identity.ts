/** Starts an identity service for tests, with its own database, real HTTP, and rpc in the process. */
import { join } from 'node:path';
import { createLocalCache } from '@baton/cache';
import { identityRpc, type Principal } from '@baton/contracts';
import { createHttpApp, type HttpApp, principalHeader, signPrincipal } from '@baton/http';
import { type Log, Secret, silentLog, systemClock } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { createLocalRpc, type RpcClient } from '@baton/rpc';
import type { Infra, ServiceParts } from '@baton/service-runtime';
import { testDatabase } from '@baton/testkit';
import { derivedTrust } from '@baton/trust';
import type { TenantParts } from './adapters/tenant-parts';
import { buildService, type Config, configSchema } from './service';
import type { DB as Tables } from './store/tables.gen';

export interface TestAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

export interface TestIdentity {
  db: Db<Tables>;
  /** Where its HTTP server listens. */
  origin: string;
  parts: ServiceParts;
  rpc: RpcClient<identityRpc.IdentityServiceDefinition>;
  /** Sends a REST call and returns its answer; `as` is the caller, by default the bootstrap admin by password. */
  call(method: string, path: string, body?: unknown, as?: Principal): Promise<TestAnswer>;
  principal(username: string, password: string, tenant?: string): Promise<Principal>;
  stop(): Promise<void>;
}

/** Every tenant is empty: the service runs alone. */
export const emptyTenants: TenantParts = {
  close: async () => [],
  open: async () => undefined,
  clear: async () => 0,
};

const internalKey = new Secret('a key for tests only');

export async function startTestIdentity(
  env: Record<string, string> = {},
  log: Log = silentLog,
): Promise<TestIdentity> {
  const database = await testDatabase({
    migrations: [{ schema: 'identity', dir: join(__dirname, '../migrations') }],
  });
  const db = createDb<Tables>({
    url: database.url,
    schema: 'identity',
    applicationName: 'test',
    log: silentLog,
  });
  const config = configSchema.parse({
    BATON_INTERNAL_KEY: 'a key for tests only',
    BATON_ADMIN_PASSWORD: 'admin',
    ...env,
  }) as Config;
  const local = createLocalRpc();
  const parts = buildService(
    config,
    {
      db,
      rpc: local,
      cache: createLocalCache(),
      log,
      clock: systemClock,
    } as unknown as Infra,
    { tenantParts: emptyTenants },
  );
  await parts.start?.();
  for (const part of parts.rpc) local.serve('identity', part.definition, part.handlers as never);
  const rpc = local.client(identityRpc.IdentityServiceDefinition, 'identity');
  const app = createHttpApp({
    service: 'identity',
    routes: parts.routes,
    trust: derivedTrust('identity', internalKey),
    log,
    wire: config.BATON_WIRE,
    validateResponses: true,
  });
  const origin = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
  const principal = async (username: string, password: string, tenant = ''): Promise<Principal> =>
    (await rpc.authenticate({ username, password, tenant })).principal as Principal;
  return {
    db,
    origin,
    parts,
    rpc,
    principal,
    call: async (method, path, body, as) =>
      request(origin, method, path, body, as ?? (await principal('admin', 'admin'))),
    stop: () => stopAll(app, parts, db, database.drop),
  };
}

async function request(origin: string, method: string, path: string, body: unknown, as: Principal) {
  const headers = {
    [principalHeader]: await signPrincipal(as, derivedTrust('gateway', internalKey).identity, 'identity'),
    'content-type': 'application/json',
  };
  const answer = await fetch(`${origin}/api/v3.1${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}

async function stopAll(
  app: HttpApp,
  parts: ServiceParts,
  db: Db<Tables>,
  drop: () => Promise<void>,
): Promise<void> {
  await app.close();
  await parts.stop?.();
  await db.close();
  await drop();
}
