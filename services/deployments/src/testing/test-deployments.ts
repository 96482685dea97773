/** Starts a deployments service for tests: its own database, real HTTP, rpc in the process, stubs for the other services. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlobStore, createFileBlobStore } from '@baton/blob-store';
import {
  agentsRpc,
  catalogRpc,
  deploymentsRpc,
  executionsRpc,
  identityRpc,
  type Principal,
  secretsRpc,
} from '@baton/contracts';
import { createHttpApp, principalHeader, signPrincipal, type Wire } from '@baton/http';
import { Secret, silentLog, systemClock } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { createLocalRpc, type RpcClient } from '@baton/rpc';
import type { Infra, ServiceParts } from '@baton/service-runtime';
import { testDatabase } from '@baton/testkit';
import { derivedTrust } from '@baton/trust';
import { buildService, type Config, configSchema } from '../service';
import type { DB } from '../store/tables.gen';
import * as texts from './blueprints';
import { type CatalogPeer, createCatalogPeer, type PeerBlueprint } from './catalog-peer';
import { createPeers, type Peers } from './rpc-peers';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely.
  body: any;
}

export interface TestDeployments {
  db: Db<DB>;
  parts: ServiceParts;
  blobs: BlobStore;
  rpc: RpcClient<typeof deploymentsRpc.DeploymentsServiceDefinition>;
  agents: RpcClient<typeof agentsRpc.AgentsServiceDefinition>;
  catalog: CatalogPeer;
  peers: Peers;
  /** Sends a REST call of `as`, by default the administrator, below /api/v3.1 unless the path names a version. */
  call(
    method: string,
    path: string,
    body?: unknown,
    as?: Principal,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Sends a body as it is, and returns the answer as it came. */
  raw(method: string, path: string, body?: Uint8Array, as?: Principal): Promise<Response>;
  /** Creates a deployment; the test fails when that fails. */
  create(id: string, body?: Record<string, unknown>): Promise<Answer>;
  /** Returns the number of SQL statements run so far. */
  statements(): number;
  stop(): Promise<void>;
}

const internalKey = new Secret('a key for tests only');

export function principal(username: string, change: Partial<Principal> = {}): Principal {
  const isAdmin = username === 'admin';
  return {
    userId: isAdmin ? 0 : 7,
    username,
    tenant: 'default_tenant',
    role: isAdmin ? 'sys_admin' : 'default',
    roles: [],
    permissions: isAdmin
      ? ['administrators', 'all_tenants', 'create_global_resource', 'set_timestamp', 'set_owner']
      : [],
    tenants: [{ name: 'default_tenant', roles: ['user'] }],
    authMethod: 'token',
    executionId: '',
    isBootstrapAdmin: isAdmin,
    ...change,
  };
}

const BLUEPRINTS: Record<string, PeerBlueprint> = {
  hello: { text: texts.hello },
  'hello-flat': { text: texts.helloFlat },
  'hello-next': { text: texts.helloNext },
  pair: { text: texts.pair },
  'pair-apart': { text: texts.pairApart },
  mini: { text: texts.mini },
  naming: { text: texts.naming },
  plugged: { text: texts.plugged('1.0') },
  'plugged-too': { text: texts.plugged('1.0') },
  'plugged-again': { text: texts.plugged('1.0') },
  'plugged-global': { text: texts.plugged('1.0'), visibility: 'global' },
  composed: { text: texts.composed },
  linked: { text: texts.linked },
  consumer: { text: texts.consumer },
  contained: { text: texts.contained },
  named: { text: texts.named('made-{uuid}') },
  'named-alike': { text: texts.named('made') },
  'needs-plugin': { text: texts.needsPlugin },
  empty: { text: texts.empty },
  'agent-host': { text: texts.agentHost },
  derived: { text: texts.derived },
  grouping: { text: texts.grouping },
  'private-bp': { text: texts.mini, visibility: 'private' },
  'global-bp': { text: texts.mini, visibility: 'global' },
  broken: { text: texts.mini, state: 'failed_parsing' },
};

export async function startTestDeployments(
  options: { wire?: Wire; env?: Record<string, string> } = {},
): Promise<TestDeployments> {
  const database = await testDatabase({
    migrations: [{ schema: 'deployments', dir: join(__dirname, '../../migrations') }],
  });
  const db = createDb<DB>({
    url: database.url,
    schema: 'deployments',
    applicationName: 'test',
    log: silentLog,
  });
  const root = mkdtempSync(join(tmpdir(), 'baton-deployments-'));
  const blobs = createFileBlobStore({ root });
  const local = createLocalRpc();
  const peers = createPeers();
  const catalog = await createCatalogPeer(BLUEPRINTS);
  local.serve('catalog', catalogRpc.CatalogServiceDefinition, catalog.handlers);
  local.serve('secrets', secretsRpc.SecretsServiceDefinition, peers.secrets);
  local.serve('secrets', secretsRpc.TextSealServiceDefinition, peers.textSeal);
  local.serve('identity', identityRpc.IdentityServiceDefinition, peers.identity);
  local.serve('executions', executionsRpc.ExecutionsServiceDefinition, peers.executions);
  local.serve('executions', executionsRpc.SystemExecutionsServiceDefinition, peers.systemExecutions);
  const config = configSchema.parse({
    BATON_INTERNAL_KEY: 'a key for tests only',
    BATON_WIRE: options.wire,
    ...options.env,
  }) as Config;
  const parts = buildService(config, {
    db,
    rpc: local,
    log: silentLog,
    clock: systemClock,
    instanceId: 'test',
    blobs,
  } as unknown as Infra);
  for (const part of parts.rpc) local.serve('deployments', part.definition, part.handlers as never);
  const app = createHttpApp({
    service: 'deployments',
    routes: parts.routes,
    trust: derivedTrust('deployments', internalKey),
    log: silentLog,
    wire: config.BATON_WIRE,
    validateResponses: true,
  });
  const origin = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
  const count = countStatements(db);
  const send = async (
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    as: Principal,
    more: Record<string, string> = {},
  ): Promise<Response> => {
    const identity = derivedTrust('gateway', internalKey).identity;
    const type = body instanceof Uint8Array ? 'application/octet-stream' : 'application/json';
    const url = path.startsWith('/api/') ? `${origin}${path}` : `${origin}/api/v3.1${path}`;
    return await fetch(url, {
      method,
      headers: {
        [principalHeader]: await signPrincipal(as, identity, 'deployments'),
        'content-type': type,
        ...more,
      },
      body: body as never,
    });
  };
  const call: TestDeployments['call'] = async (method, path, body, as = principal('admin'), more = {}) => {
    const answer = await send(method, path, body === undefined ? undefined : JSON.stringify(body), as, more);
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    db,
    parts,
    blobs,
    catalog,
    peers,
    call,
    raw: (method, path, content, as = principal('admin')) => send(method, path, content, as),
    rpc: local.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments'),
    agents: local.client(agentsRpc.AgentsServiceDefinition, 'deployments'),
    create: async (id, body = {}) => {
      const answer = await call('PUT', `/deployments/${id}`, { blueprint_id: 'mini', ...body });
      if (answer.status !== 201) throw new Error(`deployment ${id}: ${JSON.stringify(answer.body)}`);
      return answer;
    },
    statements: count,
    stop: async () => {
      await app.close();
      await db.close();
      await database.drop();
      rmSync(root, { recursive: true });
    },
  };
}

/** Counts the statements on the connections of the pool from now on. */
function countStatements(db: Db<DB>): () => number {
  let statements = 0;
  const count = (client: { query: (...args: never[]) => unknown }): void => {
    const query = client.query.bind(client);
    client.query = (...args) => {
      statements += 1;
      return query(...args);
    };
  };
  db.pool.on('connect', count as never);
  return () => statements;
}
