/**
 * Connects a service to its infrastructure (database, broker, rpc, files), from its configuration. All connections reconnect by
 * themselves later.
 */
import { hostname } from 'node:os';
import { type BlobStore, createFileBlobStore, createS3BlobStore } from '@baton/blob-store';
import { type Broker, createPostgresBroker, createRabbitBroker, createRelayedBroker } from '@baton/broker';
import { type Cache, createLocalCache, createRedisCache } from '@baton/cache';
import type { ServiceName } from '@baton/contracts';
import { type Log, randomSuffix, type Secret, switchOff, systemClock } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import {
  createGrpcConnector,
  createRelayedRpc,
  processChannel,
  type RpcConnector,
  type RpcPassage,
} from '@baton/rpc';
import { type CallerCredential, type Seals, serviceCredential, type Trust } from '@baton/trust';
import { Registry } from 'prom-client';
import { ConfigError } from '../config/config';
import type { RuntimeConfig } from '../config/runtime-config';
import { countRefused } from '../health/metrics';
import { createLogger } from '../telemetry/logger';
import { sealsOf, trustOf } from '../transport/identity';
import { openTransport, type Transport } from '../transport/transport';
import { createWorkerCredential } from '../transport/worker-credential';
import type { Infra } from './infra-types';

export type { Infra } from './infra-types';

export interface ConnectOptions {
  service: ServiceName;
  /** PostgreSQL schema; absent or null: no database. */
  schema?: string | null;
  log?: Log;
  /** Parts that exist already (standalone, tests): used as they are and not closed by `close`. */
  shared?: Partial<
    Pick<
      Infra,
      | 'broker'
      | 'cache'
      | 'rpc'
      | 'passage'
      | 'blobs'
      | 'clock'
      | 'instanceId'
      | 'metrics'
      | 'localHttp'
      | 'transport'
      | 'trust'
    >
  >;
}

/** Unique per process, and readable in logs and on the status page. */
export function newInstanceId(): string {
  return `${hostname().slice(0, 40)}-${process.pid}-${randomSuffix(4)}`;
}

/** `service`: the service of this process; absent: all services. `seals`: null in workers. */
export function connectBroker(
  config: RuntimeConfig,
  log: Log,
  o: { transport?: Transport; service?: ServiceName; seals: Seals | null; metrics?: Registry },
): Broker {
  // A child process of a process that has the broker uses the parent's broker, and knows no address.
  if (config.BATON_RPC_PARENT && process.connected) return createRelayedBroker(processChannel(process), log);
  const trust = o.transport?.servers;
  const namespace = config.BATON_NAMESPACE || undefined;
  // Where the messages are in the parent's database, the parent has them: this process knows no address of it.
  if (config.BATON_BROKER === 'postgres')
    return createPostgresBroker({ url: config.DATABASE_URL.expose(), log, trust });
  return createRabbitBroker({
    url: config.AMQP_URL.expose(),
    log,
    namespace,
    trust,
    services: o.service && [o.service],
    topologyMode: config.BATON_AMQP_TOPOLOGY,
    seals: o.seals,
    onRefused: o.metrics && countRefused(o.metrics),
  });
}

export function connectCache(config: RuntimeConfig, log: Log, transport?: Transport): Cache {
  if (!config.REDIS_URL) return createLocalCache();
  return createRedisCache({
    url: config.REDIS_URL.expose(),
    log,
    prefix: `${config.BATON_NAMESPACE || 'baton'}:`,
    trust: transport?.servers,
  });
}

type OwnRpc = RpcConnector & { close(): void; passage?: RpcPassage };

/** `credential`: the identity that calls show. */
function connectRpc(
  config: RuntimeConfig,
  log: Log,
  { credential, transport }: { credential?: CallerCredential; transport?: Transport } = {},
): OwnRpc {
  const grpc = createGrpcConnector({
    addresses: {
      identity: config.BATON_RPC_IDENTITY,
      catalog: config.BATON_RPC_CATALOG,
      deployments: config.BATON_RPC_DEPLOYMENTS,
      executions: config.BATON_RPC_EXECUTIONS,
      secrets: config.BATON_RPC_SECRETS,
      'cluster-status': config.BATON_RPC_CLUSTER_STATUS,
    },
    log,
    credential,
    tls: transport?.inner ?? undefined,
  });
  return config.BATON_RPC_PARENT && process.connected
    ? createRelayedRpc(processChannel(process), grpc, credential)
    : grpc;
}

/** Connects the calls of a worker, which registers first. */
function connectWorkerRpc(
  config: RuntimeConfig,
  workerId: string,
  log: Log,
  transport: Transport | undefined,
): RpcConnector & { close(): void } {
  // The worker's operations are given to others already. A supervisor that starts it again gets the same end where its name is
  // fixed.
  const onRevoked = (): void => {
    log.error({ workerId }, 'this worker was revoked; it ends');
    process.exit(1);
  };
  const credential = createWorkerCredential({ workerId, joinToken: joinTokenOf(config), log, onRevoked });
  const rpc = connectRpc(config, log, { credential, transport });
  credential.registerBy(rpc);
  return {
    client: rpc.client,
    close() {
      credential.close();
      rpc.close();
    },
  };
}

/** @throws ConfigError when a worker has no join token */
function joinTokenOf(config: Partial<RuntimeConfig>): Secret | null {
  if (config.BATON_WORKER_JOIN_TOKEN) return config.BATON_WORKER_JOIN_TOKEN;
  if (config.BATON_RPC_PARENT) return null;
  throw new ConfigError(['BATON_WORKER_JOIN_TOKEN is missing: a worker registers with it']);
}

/** @throws ConfigError when the object store is chosen but not described. */
export function connectBlobs(config: RuntimeConfig, transport?: Transport): BlobStore {
  if (config.BATON_BLOBS !== 's3') return createFileBlobStore({ root: config.BATON_BLOBS });
  const {
    BATON_S3_ENDPOINT: endpoint,
    BATON_S3_ACCESS_KEY_ID: accessKeyId,
    BATON_S3_SECRET_ACCESS_KEY: secret,
  } = config;
  const missing = Object.entries({
    BATON_S3_ENDPOINT: endpoint,
    BATON_S3_ACCESS_KEY_ID: accessKeyId,
    BATON_S3_SECRET_ACCESS_KEY: secret,
  })
    .filter(([, value]) => value === undefined)
    .map(([name]) => `${name} is missing (needed by BATON_BLOBS=s3)`);
  if (!endpoint || !accessKeyId || !secret) throw new ConfigError(missing);
  return createS3BlobStore({
    endpoint,
    bucket: config.BATON_S3_BUCKET,
    region: config.BATON_S3_REGION,
    accessKeyId,
    secretAccessKey: secret.expose(),
    trust: transport?.servers,
  });
}

async function connectDb<S>(
  config: RuntimeConfig,
  o: ConnectOptions,
  log: Log,
  transport: Transport,
): Promise<Db<S> | undefined> {
  if (!o.schema) return undefined;
  // Loaded only here: gateway and worker never load the database driver.
  const { createDb } = await import('@baton/postgres');
  return createDb<S>({
    url: config.DATABASE_URL.expose(),
    schema: o.schema,
    maxConnections: config.BATON_DATABASE_CONNECTIONS,
    hasRowSecurity: config.BATON_ROW_SECURITY === 'on',
    applicationName: `baton-${o.service}`,
    log,
    trust: transport.servers,
  });
}

interface RpcOptions {
  instanceId: string;
  log: Log;
  /** Absent: this process is a worker. */
  trust: Trust | undefined;
  transport: Transport | undefined;
}

function rpcOf(config: RuntimeConfig, { instanceId, log, trust, transport }: RpcOptions): OwnRpc {
  return trust
    ? connectRpc(config, log, { credential: serviceCredential(trust.identity), transport })
    : connectWorkerRpc(config, instanceId, log, transport);
}

/** Connects the infrastructure of one service; `close` closes the parts that were connected here, database last. */
export async function connectInfra<S = unknown>(config: RuntimeConfig, o: ConnectOptions): Promise<Infra<S>> {
  switchOff(config.BATON_WITHOUT);
  const shared = o.shared ?? {};
  const instanceId = shared.instanceId ?? config.BATON_INSTANCE_ID ?? newInstanceId();
  const log = o.log ?? createLogger({ service: o.service, level: config.BATON_LOG_LEVEL, instanceId });
  const transport = shared.transport ?? openTransport(config, log);
  const blobs = shared.blobs ?? connectBlobs(config, transport);
  const db = await connectDb<S>(config, o, log, transport);
  const trust = o.service === 'worker' ? undefined : (shared.trust ?? trustOf(config, o.service, log));
  const metrics = shared.metrics ?? new Registry();
  const { service } = o;
  const seals = trust ? sealsOf(trust) : null;
  const ownBroker = shared.broker
    ? undefined
    : connectBroker(config, log, { transport, service, seals, metrics });
  const ownCache = shared.cache ? undefined : connectCache(config, log, transport);
  const ownRpc = shared.rpc ? undefined : rpcOf(config, { instanceId, log, trust, transport });
  return {
    db,
    broker: (shared.broker ?? ownBroker)!,
    cache: (shared.cache ?? ownCache)!,
    rpc: (shared.rpc ?? ownRpc)!,
    passage: shared.passage ?? ownRpc?.passage,
    blobs,
    log,
    clock: shared.clock ?? systemClock,
    instanceId,
    metrics,
    localHttp: shared.localHttp,
    transport,
    ...(trust && { trust }),
    async close() {
      ownRpc?.close();
      await ownBroker?.close();
      await ownCache?.close();
      await db?.close();
      if (!shared.transport) transport.close();
    },
  };
}
