/** The secrets service over real PostgreSQL for tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityRpc, type Principal, secretsRpc } from '@baton/contracts';
import { createHttpApp, principalHeader, signPrincipal, type Wire } from '@baton/http';
import { type Log, notFound, systemClock } from '@baton/kernel';
import { createDb } from '@baton/postgres';
import { createLocalRpc } from '@baton/rpc';
import { type Infra, loadConfig } from '@baton/service-runtime';
import { testDatabase } from '@baton/testkit';
import { derivedTrust } from '@baton/trust';
import { loadMasterKeys } from '../adapters/master-keys';
import { buildService, configSchema } from '../service';
import type { DB } from '../store/tables.gen';

export const admin: Principal = {
  userId: 0,
  username: 'admin',
  tenant: 't1',
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: [],
  authMethod: 'token',
  executionId: '',
  tenants: [
    { name: 't1', roles: [] },
    { name: 't2', roles: [] },
  ],
  isBootstrapAdmin: true,
};

export function userOf(username: string, tenant = 't1'): Principal {
  return {
    ...admin,
    username,
    tenant,
    userId: 5,
    role: 'default',
    roles: ['default', 'user'],
    tenants: [{ name: tenant, roles: ['user'] }],
    isBootstrapAdmin: false,
  };
}

/** Returns a log that collects its lines as text. */
function capturingLog(lines: string[]): Log {
  const write = (fields: object, message: string): void =>
    void lines.push(
      JSON.stringify({ ...fields, message }, (_k, v) =>
        v instanceof Error ? { ...v, text: String(v.stack) } : v,
      ),
    );
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
  return log;
}

export async function startSecrets(env: Record<string, string> = {}, wire: Wire = 'spec') {
  const database = await testDatabase({
    migrations: [{ schema: 'secrets', dir: join(__dirname, '../../migrations') }],
  });
  const folder = await mkdtemp(join(tmpdir(), 'baton-secrets-'));
  const logged: string[] = [];
  const log = capturingLog(logged);
  const db = createDb<DB>({ url: database.url, schema: 'secrets', applicationName: 'secrets-test', log });
  const config = loadConfig(configSchema, {
    BATON_INTERNAL_KEY: 'internal key of the test',
    BATON_WIRE: wire,
    BATON_SECRETS_KEY_FILE: join(folder, 'key'),
    ...env,
  });
  const rpc = createLocalRpc({ log });
  rpc.serve('identity', identityRpc.IdentityServiceDefinition, {
    getPrincipal: async ({ username }: { username: string }) => {
      if (!['ann', 'bob'].includes(username)) throw notFound('User', username);
      return { principal: userOf(username), cacheMs: 0 };
    },
  } as never);
  const infra = { db, log, rpc, clock: systemClock } as unknown as Infra;
  const parts = await buildService(config, infra);
  for (const part of parts.rpc) rpc.serve('secrets', part.definition, part.handlers as never);
  const app = createHttpApp({
    service: 'secrets',
    routes: parts.routes,
    trust: derivedTrust('secrets', config.BATON_INTERNAL_KEY),
    log,
    wire,
    validateResponses: true,
  });
  const url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
  return {
    db,
    parts,
    logged,
    databaseUrl: database.url,
    /** Returns the master keys of the service. */
    masters: () => loadMasterKeys({ key: undefined, file: join(folder, 'key'), oldKeys: [] }),
    rpc: rpc.client(secretsRpc.SecretsServiceDefinition, 'secrets'),
    call: async (
      method: string,
      path: string,
      o: { json?: unknown; as?: Principal; headers?: Record<string, string> } = {},
    ) => {
      const headers: Record<string, string> = {
        [principalHeader]: await signPrincipal(
          o.as ?? admin,
          derivedTrust('gateway', config.BATON_INTERNAL_KEY).identity,
          'secrets',
        ),
        ...o.headers,
      };
      if (o.json !== undefined) headers['content-type'] = 'application/json';
      const answer = await fetch(`${url}/api/v3.1${path}`, {
        method,
        headers,
        body: o.json === undefined ? undefined : JSON.stringify(o.json),
      });
      const text = await answer.text();
      // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
      return { status: answer.status, text, body: (text === '' ? null : JSON.parse(text)) as any };
    },
    close: async () => {
      await app.close();
      await db.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
