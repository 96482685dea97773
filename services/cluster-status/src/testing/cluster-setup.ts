/** The cluster-status service over real PostgreSQL for tests; the services that it asks are peers on the local rpc. */
import { join } from 'node:path';
import { clusterStatusRpc, executionsRpc, identityRpc, type Principal } from '@baton/contracts';
import { createHttpApp, principalHeader, signPrincipal } from '@baton/http';
import { silentLog, systemClock } from '@baton/kernel';
import { createDb } from '@baton/postgres';
import { createLocalRpc, type RpcHandlers } from '@baton/rpc';
import { type Infra, loadConfig } from '@baton/service-runtime';
import { testDatabase } from '@baton/testkit';
import { buildService, configSchema, serviceName } from '../service';
import type { DB } from '../store/tables.gen';

export const admin: Principal = {
  userId: 0,
  username: 'admin',
  tenant: '',
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: ['administrators', 'broker_credentials'],
  authMethod: 'token',
  executionId: '',
  tenants: [],
  isBootstrapAdmin: true,
};
export const bob: Principal = {
  ...admin,
  userId: 5,
  username: 'bob',
  role: 'default',
  roles: ['default'],
  permissions: ['manager_config_put'],
  isBootstrapAdmin: false,
};

type Running = executionsRpc.UnfinishedExecution;

function peers(running: Running[]) {
  const executions: Partial<RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>> = {
    listUnfinishedExecutions: async ({ limit }) => ({
      executions: running.slice(0, limit),
      total: running.length,
    }),
  };
  const identity: Partial<RpcHandlers<typeof identityRpc.IdentityServiceDefinition>> = {
    getAuthorization: async () => ({
      roles: [{ id: 1, name: 'sys_admin', type: 'system_role', description: '' }],
      permissions: [{ permission: 'administrators', roles: ['sys_admin', 'manager'] }],
    }),
  };
  return { executions, identity };
}

export async function startCluster(env: Record<string, string> = {}) {
  const database = await testDatabase({
    migrations: [{ schema: 'cluster_status', dir: join(__dirname, '../../migrations') }],
  });
  const log = silentLog;
  const db = createDb<DB>({
    url: database.url,
    schema: 'cluster_status',
    applicationName: 'cluster-test',
    log,
  });
  const config = loadConfig(configSchema, { BATON_INTERNAL_KEY: 'internal key of the test', ...env });
  const running: Running[] = [];
  const rpc = createLocalRpc({ log });
  const others = peers(running);
  rpc.serve('executions', executionsRpc.ExecutionsServiceDefinition, others.executions as never);
  rpc.serve('identity', identityRpc.IdentityServiceDefinition, others.identity as never);
  const parts = buildService(config, { db, log, rpc, clock: systemClock } as unknown as Infra);
  for (const part of parts.rpc) rpc.serve(serviceName, part.definition, part.handlers as never);
  const app = createHttpApp({
    service: serviceName,
    routes: parts.routes,
    internalKey: config.BATON_INTERNAL_KEY,
    log,
    wire: 'spec',
    validateResponses: true,
  });
  const url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
  return {
    db,
    running,
    rpc: rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, serviceName),
    tick: (name: string) => parts.loops.find((loop) => loop.name === name)!.tickOnce(),
    call: async (
      method: string,
      path: string,
      o: { json?: unknown; text?: string; as?: Principal; api?: string } = {},
    ) => {
      const headers: Record<string, string> = {
        [principalHeader]: await signPrincipal(o.as ?? admin, config.BATON_INTERNAL_KEY),
        'content-type': o.text === undefined ? 'application/json' : 'application/octet-stream',
      };
      const body = o.text ?? (o.json === undefined ? undefined : JSON.stringify(o.json));
      const answer = await fetch(`${url}/api/${o.api ?? 'v3.1'}${path}`, { method, headers, body });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.includes('json') && text !== '';
      // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
      return { status: answer.status, text, body: (isJson ? JSON.parse(text) : null) as any };
    },
    close: async () => {
      await app.close();
      await db.close();
      await database.drop();
    },
  };
}
