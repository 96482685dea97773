/** The cluster-status service over real PostgreSQL for tests; the services that it calls are peers on the local rpc. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileBlobStore } from '@baton/blob-store';
import {
  buildMessage,
  clusterStatusRpc,
  executionsRpc,
  identityRpc,
  type MessageType,
  type Principal,
  secretsRpc,
} from '@baton/contracts';
import { createHttpApp, principalHeader, signPrincipal, type Wire } from '@baton/http';
import { AppError, isoInstant, silentLog, systemClock } from '@baton/kernel';
import { createDb } from '@baton/postgres';
import { createLocalRpc, type LocalRpc, type RpcHandlers } from '@baton/rpc';
import { type Infra, loadConfig } from '@baton/service-runtime';
import { testDatabase } from '@baton/testkit';
import { derivedTrust } from '@baton/trust';
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

/** Executions that the service under test carries out: their ends, and the content for a log bundle. */
export interface Carried {
  /** The status that ReportSystemExecution returns. */
  status: string;
  started: executionsRpc.StartExecutionRequest[];
  ends: { executionId: string; endStatus: string }[];
  /** Names of the master keys of the secrets service, the current one first. */
  masterKeys: string[];
  /** Rights of users, as identity answers them; a name that is missing is no user of the tenant. */
  rights: Record<string, string[]>;
}

/** Seals by masking: no text is readable in the ciphertext, which opens only for its tenant and use, with a known master key. */
function textSeal({
  masterKeys,
}: Carried): Partial<RpcHandlers<typeof secretsRpc.TextSealServiceDefinition>> {
  const mask = (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
  return {
    sealText: async ({ tenant, use, text }) => ({
      sealed: mask(Buffer.from(JSON.stringify([tenant, use, text, masterKeys[0]]))),
    }),
    openText: async ({ tenant, use, sealed }) => {
      const [ofTenant, forUse, text, key] = JSON.parse(mask(sealed).toString());
      const isReadable = ofTenant === tenant && forUse === use && masterKeys.includes(key);
      return { isReadable, text: isReadable ? text : '', isOutdated: key !== masterKeys[0] };
    },
  };
}

function peers(running: Running[], carried: Carried) {
  const systemExecutions: Partial<RpcHandlers<typeof executionsRpc.SystemExecutionsServiceDefinition>> = {
    reportSystemExecution: async ({ executionId, endStatus }) => {
      if (endStatus !== '') carried.ends.push({ executionId, endStatus });
      return { status: carried.status };
    },
    async *exportLogs() {
      yield { file: 'doctor.jsonl', data: Buffer.from('') };
      yield { file: 'events.jsonl', data: Buffer.from('{"message":"one"}\n') };
      yield { file: 'events.jsonl', data: Buffer.from('{"message":"two"}\n') };
    },
  };
  const executions: Partial<RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>> = {
    startExecution: async (request) => {
      carried.started.push(request);
      return { executionId: request.requestId, executionJson: JSON.stringify({ id: request.requestId }) };
    },
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
    getPrincipal: async ({ username, tenant }) => {
      if (tenant === '') throw new AppError('not_found_error', 'no such user');
      const permissions = carried.rights[`${tenant}/${username}`];
      if (!permissions) throw new AppError('forbidden_error', 'no member');
      const principal = identityRpc.Principal.fromPartial({ username, tenant, permissions });
      return { principal, cacheMs: 0 };
    },
  };
  return { executions, systemExecutions, identity };
}

/** @param serve adds calls of other services. */
export async function startCluster(
  env: Record<string, string> = {},
  wire: Wire = 'spec',
  serve: (rpc: LocalRpc) => void = () => undefined,
) {
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
  const config = loadConfig(configSchema, {
    BATON_INTERNAL_KEY: 'internal key of the test',
    BATON_WIRE: wire,
    ...env,
  });
  const running: Running[] = [];
  const rpc = createLocalRpc({ log });
  const carried: Carried = { status: 'started', started: [], ends: [], masterKeys: ['first'], rights: {} };
  const others = peers(running, carried);
  rpc.serve('executions', executionsRpc.ExecutionsServiceDefinition, others.executions as never);
  rpc.serve('executions', executionsRpc.SystemExecutionsServiceDefinition, others.systemExecutions as never);
  rpc.serve('identity', identityRpc.IdentityServiceDefinition, others.identity as never);
  rpc.serve('secrets', secretsRpc.TextSealServiceDefinition, textSeal(carried) as never);
  serve(rpc);
  const root = await mkdtemp(join(tmpdir(), 'baton-cluster-'));
  const blobs = createFileBlobStore({ root });
  const parts = buildService(config, {
    db,
    log,
    rpc,
    clock: systemClock,
    blobs,
    instanceId: 'test',
  } as unknown as Infra);
  for (const part of parts.rpc) rpc.serve(serviceName, part.definition, part.handlers as never);
  const app = createHttpApp({
    service: serviceName,
    routes: parts.routes,
    trust: derivedTrust('cluster-status', config.BATON_INTERNAL_KEY),
    log,
    wire,
    validateResponses: true,
  });
  const url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
  return {
    db,
    running,
    carried,
    rpc: rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, serviceName),
    pool: db.pool,
    blobs,
    /** Gives a message to its consumer; returns the envelope, to give it again. */
    tell: async <T>(message: MessageType<T>, payload: T, again?: ReturnType<typeof buildMessage<T>>) => {
      const about = { tenant: 'default_tenant', key: 'k', time: isoInstant(systemClock.now()) };
      const envelope = again ?? buildMessage(message, about, payload);
      const consumer = parts.consumers.find((one) => one.message.type === message.type)!;
      await consumer.handler(envelope, new AbortController().signal);
      return envelope;
    },
    tick: (name: string) => parts.loops.find((loop) => loop.name === name)!.tickOnce(),
    call: async (
      method: string,
      path: string,
      o: {
        json?: unknown;
        text?: string | Buffer;
        as?: Principal;
        api?: string;
        headers?: Record<string, string>;
      } = {},
    ) => {
      const headers: Record<string, string> = {
        [principalHeader]: await signPrincipal(
          o.as ?? admin,
          derivedTrust('gateway', config.BATON_INTERNAL_KEY).identity,
          'cluster-status',
        ),
        'content-type': o.text === undefined ? 'application/json' : 'application/octet-stream',
        ...o.headers,
      };
      const body = o.text ?? (o.json === undefined ? undefined : JSON.stringify(o.json));
      const answer = await fetch(`${url}/api/${o.api ?? 'v3.1'}${path}`, { method, headers, body });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const text = bytes.toString();
      const isJson = answer.headers.get('content-type')?.includes('json') && text !== '';
      // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
      return { status: answer.status, text, bytes, body: (isJson ? JSON.parse(text) : null) as any };
    },
    close: async () => {
      await app.close();
      await parts.stop?.();
      await rm(root, { recursive: true, force: true });
      await db.close();
      await database.drop();
    },
  };
}
