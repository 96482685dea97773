/** A whole catalog over real PostgreSQL for tests: its HTTP app, rpc and loops, with a stub of the service deployments. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileBlobStore } from '@baton/blob-store';
import type { Broker } from '@baton/broker';
import { createLocalCache } from '@baton/cache';
import { catalogRpc, deploymentsRpc, identityRpc, type Principal } from '@baton/contracts';
import { createHttpApp, principalHeader, signPrincipal, type Wire } from '@baton/http';
import { notFound, silentLog, systemClock } from '@baton/kernel';
import { createDb } from '@baton/postgres';
import { createLocalRpc, type RpcClient } from '@baton/rpc';
import { type Infra, loadConfig, type ServiceParts } from '@baton/service-runtime';
import { testDatabase } from '@baton/testkit';
import { derivedTrust } from '@baton/trust';
import { buildService, configSchema } from '../service';
import type { DB } from '../store/tables.gen';

export const admin: Principal = {
  userId: 0,
  username: 'admin',
  tenant: 'default_tenant',
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: [],
  tenants: [{ name: 'default_tenant', roles: [] }],
  authMethod: 'token',
  executionId: '',
  isBootstrapAdmin: true,
};
/** Returns a user of a tenant without special permissions. */
export function userOf(username: string, tenant = 'default_tenant', userId = 7): Principal {
  return {
    ...admin,
    userId,
    username,
    tenant,
    role: 'default',
    roles: ['default', 'user'],
    isBootstrapAdmin: false,
    permissions: ['blueprint_list', 'blueprint_upload'],
    tenants: [{ name: tenant, roles: ['user'] }],
  };
}

export interface TestAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  body: any;
  bytes: Buffer;
  headers: Headers;
}

export interface TestCatalog {
  call(
    method: string,
    path: string,
    o?: {
      json?: unknown;
      raw?: Buffer | ReadableStream;
      contentType?: string;
      as?: Principal;
      version?: string;
      headers?: Record<string, string>;
    },
  ): Promise<TestAnswer>;
  /** Returns the URL of the catalog and the headers that identify the caller. */
  signed(as: Principal): Promise<{ url: string; headers: Record<string, string> }>;
  rpc: RpcClient<typeof catalogRpc.CatalogServiceDefinition>;
  parts: ServiceParts;
  db: ReturnType<typeof createDb<DB>>;
  blobs: ReturnType<typeof createFileBlobStore>;
  /** Folder of the blobs. */
  root: string;
  /** Deployments that the stub reports, by blueprint id. */
  deployments: Map<string, string[]>;
  /** Deployments that the stub finds: `<tenant>/<id>` -> the only user that sees it, '' for every user. */
  known: Map<string, string>;
  close(): Promise<void>;
}

export async function startCatalog(
  o: {
    limits?: identityRpc.TenantLimits;
    wire?: Wire;
    env?: Record<string, string>;
    onRoot?: (root: string) => void;
  } = {},
): Promise<TestCatalog> {
  const database = await testDatabase({
    migrations: [{ schema: 'catalog', dir: join(__dirname, '../../migrations') }],
  });
  const root = await mkdtemp(join(tmpdir(), 'baton-catalog-'));
  o.onRoot?.(root);
  const db = createDb<DB>({
    url: database.url,
    schema: 'catalog',
    applicationName: 'catalog-test',
    log: silentLog,
  });
  const blobs = createFileBlobStore({ root });
  const cache = createLocalCache();
  const rpc = createLocalRpc();
  const deployments = new Map<string, string[]>();
  const known = new Map<string, string>();
  const unused = async (): Promise<never> => {
    throw new Error('not part of the stand-in');
  };
  rpc.serve(
    'deployments',
    deploymentsRpc.DeploymentsServiceDefinition,
    new Proxy(
      {
        listDeploymentsOfBlueprint: async (request: { blueprintId: string }) => ({
          deploymentIds: deployments.get(request.blueprintId) ?? [],
        }),
        findDeployment: async (request: { tenant: string; deploymentId: string; username: string }) => {
          const owner = known.get(`${request.tenant}/${request.deploymentId}`);
          const isSeen = owner === '' || request.username === '' || owner === request.username;
          if (owner === undefined || !isSeen) throw notFound('Deployment', request.deploymentId);
          return {};
        },
      },
      { get: (target, name) => (target as Record<string, unknown>)[String(name)] ?? unused },
    ) as never,
  );
  rpc.serve('identity', identityRpc.IdentityServiceDefinition, {
    getPrincipal: async ({ username }: { username: string }) => {
      if (!['ann', 'bob'].includes(username)) throw notFound('User', username);
      return { principal: userOf(username), cacheMs: 0 };
    },
    listLimits: async () => ({ defaults: o.limits ?? {}, tenants: {} }),
  } as never);
  const config = loadConfig(configSchema, {
    BATON_INTERNAL_KEY: 'internal key of the test',
    BATON_WIRE: o.wire ?? 'spec',
    DATABASE_URL: database.url,
    ...o.env,
  });
  const infra: Infra<DB> = {
    db,
    broker: {} as Broker,
    cache,
    rpc,
    blobs,
    log: silentLog,
    clock: systemClock,
    instanceId: 'test',
    metrics: {} as Infra['metrics'],
    close: async () => undefined,
  };
  const parts = buildService(config, infra as unknown as Infra);
  for (const part of parts.rpc) rpc.serve('catalog', part.definition, part.handlers as never);
  await parts.loops.find(({ name }) => name === 'tenant-limits')!.tickOnce();
  const app = createHttpApp({
    service: 'catalog',
    routes: parts.routes,
    trust: derivedTrust('catalog', config.BATON_INTERNAL_KEY),
    log: silentLog,
    wire: config.BATON_WIRE,
    validateResponses: config.BATON_WIRE === 'spec',
  });
  const url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
  const signed = async (as: Principal) => ({
    url,
    headers: {
      [principalHeader]: await signPrincipal(
        as,
        derivedTrust('gateway', config.BATON_INTERNAL_KEY).identity,
        'catalog',
      ),
    },
  });
  return {
    parts,
    db,
    blobs,
    root,
    deployments,
    known,
    rpc: rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog'),
    signed,
    call: async (
      method,
      path,
      { json, raw, contentType, as = admin, version = 'v3.1', headers: more } = {},
    ) => {
      const headers: Record<string, string> = { ...(await signed(as)).headers, ...more };
      if (json !== undefined) headers['content-type'] = 'application/json';
      if (contentType !== undefined) headers['content-type'] = contentType;
      const body = json !== undefined ? JSON.stringify(json) : raw;
      const answer = await fetch(`${url}/api/${version}${path}`, {
        method,
        headers,
        body: body as never,
        ...(body === undefined ? {} : { duplex: 'half' }),
      } as never);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const isJson =
        answer.headers.get('content-type')?.startsWith('application/json') === true && bytes.length > 0;
      return {
        status: answer.status,
        bytes,
        headers: answer.headers,
        body: isJson ? JSON.parse(bytes.toString()) : null,
      };
    },
    close: async () => {
      await app.close();
      await parts.stop?.();
      await db.close();
      await cache.close();
      await database.drop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
