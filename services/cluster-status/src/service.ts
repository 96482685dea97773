import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { changeMade, clusterStatusRpc } from '@baton/contracts';
import { chooseWire, createSafeFetch, createSafePost } from '@baton/http';
import type { Db } from '@baton/postgres';
import { createUserLookup } from '@baton/rpc';
import {
  consumerPart,
  type Infra,
  requireDb,
  rpcPart,
  type ServiceParts,
  temporarySweep,
} from '@baton/service-runtime';
import { createDoctorPart, createSnapshotPart, createTenantPart } from '@baton/snapshot-part';
import { createExecutionsClient } from './adapters/executions.client';
import { createIdentityClient } from './adapters/identity.client';
import { createSnapshotParts } from './adapters/snapshot-parts';
import { createSealClient } from './adapters/snapshot-seal';
import { createSystemExecutions } from './adapters/system-executions';
import { settleMaintenance } from './commands/change-maintenance';
import type { SnapshotDeps } from './commands/snapshot-deps';
import { forgetSilent } from './commands/take-report';
import type { ClusterStatusConfig } from './config';
import { configDefinitions, type ShippedValues } from './domain/config-items';
import { type OsRelease, parseOsRelease } from './domain/os-release';
import { auditHttp } from './http/audit.routes';
import { brokersHttp } from './http/brokers.routes';
import { cloudifyWire } from './http/cloudify/wire-policy';
import { configHttp } from './http/config.routes';
import { contactsHttp } from './http/contacts.routes';
import { licenseHttp } from './http/license.routes';
import { logBundlesHttp } from './http/log-bundles.routes';
import { maintenanceHttp } from './http/maintenance.routes';
import { providerContextHttp } from './http/provider-context.routes';
import { type FetchArchive, snapshotsHttp } from './http/snapshots.routes';
import { type StatusDeps, statusHttp } from './http/status.routes';
import { specWire } from './http/wire-policy';
import { createImportParts } from './imports/adapters/import-parts';
import type { ImportDeps } from './imports/commands/import-deps';
import { importsHttp } from './imports/http/imports.routes';
import { driveImports } from './imports/loops/drive-imports.loop';
import { driveLogBundles } from './loops/drive-log-bundles.loop';
import { driveSnapshots, sweepSnapshotArchives } from './loops/drive-snapshots.loop';
import { resealTextsLoop } from './loops/reseal-texts.loop';
import { onChangeMade } from './messages/on-change-made';
import { clusterStatusHandlers } from './rpc/cluster-status.rpc';
import { doctorChecks } from './store/doctor.sql';
import { snapshotTables } from './store/snapshot-tables';
import type { DB } from './store/tables.gen';
import { createTriggerPeers } from './triggers/adapters/trigger-peers';
import { pruneTriggerCalls } from './triggers/commands/fire-trigger';
import { triggersHttp } from './triggers/http/triggers.routes';
import { webhookReach } from './webhooks/adapters/reach';
import { createTextSealClient } from './webhooks/adapters/sealed-content';
import { webhooksHttp } from './webhooks/http/webhooks.routes';
import { deliverWebhooks } from './webhooks/loops/deliver-webhooks.loop';
import { pruneWebhookDeliveries } from './webhooks/loops/prune-webhooks.loop';
import { onFacts } from './webhooks/messages/on-facts';

export { configSchema } from './config';
export const serviceName = 'cluster-status' as const;

const FORGET_INTERVAL_MS = 30_000;
const MAINTENANCE_INTERVAL_MS = 10_000;
const PRUNE_INTERVAL_MS = 3_600_000;

/** Composes the cluster-status service. */
export function buildService(config: ClusterStatusConfig, infra: Infra): ServiceParts {
  const db = requireDb<DB>(infra);
  const os = readOsRelease();
  const edition = config.BATON_EDITION;
  const definitions = configDefinitions(shippedValues(config));
  const maintenance = { db, executions: createExecutionsClient(infra.rpc) };
  const snapshots = snapshotDeps(config, infra, db, () => void driver.work());
  const driver = driveSnapshots(snapshots);
  const bundles = { ...snapshots, definitions, kick: () => void bundleDriver.work() };
  const bundleDriver = driveLogBundles(bundles);
  const imports = importParts(infra, snapshots);
  const webhooks = webhookParts(config, infra, db);
  const settle = async () => (await settleMaintenance(maintenance)).status;
  const ownCalls = { db, os, definitions, settle };
  const wire = chooseWire(config.BATON_WIRE, { spec: specWire, cloudify: cloudifyWire });
  return {
    name: serviceName,
    routes: [
      ...statusHttp(statusDeps(config, db, os), wire),
      ...maintenanceHttp(maintenance, wire),
      ...licenseHttp({ db, edition, key: config.BATON_LICENSE_KEY ?? null }),
      ...contactsHttp({ db, edition }),
      ...configHttp({ db, identity: createIdentityClient(infra.rpc), definitions }),
      ...auditHttp({ db, clock: infra.clock }),
      ...providerContextHttp({ db }),
      ...logBundlesHttp(bundles, wire),
      ...webhooks.routes,
      ...snapshotsHttp({ ...snapshots, fetch: archiveFetch(config) }, wire),
      ...imports.routes,
      ...brokersHttp({
        brokerUrl: config.BATON_BROKER === 'postgres' ? config.DATABASE_URL : config.AMQP_URL,
        databaseUrl: config.DATABASE_URL,
      }),
    ],
    rpc: [
      rpcPart(clusterStatusRpc.ClusterStatusServiceDefinition, clusterStatusHandlers(ownCalls)),
      ...tableParts(db, infra),
    ],
    consumers: [
      consumerPart(changeMade, { queue: serviceName, prefetch: 128, handler: onChangeMade({ db }) }),
      ...webhooks.consumers,
    ],
    subscriptions: [],
    loops: [
      ...[driver.loop, sweepSnapshotArchives(snapshots), bundleDriver.loop, temporarySweep(infra.blobs)],
      ...[imports.loop, ...webhooks.loops],
      { name: 'forget-dead', intervalMs: FORGET_INTERVAL_MS, tickOnce: () => forgetSilent({ db }) },
      {
        name: 'settle-maintenance',
        intervalMs: MAINTENANCE_INTERVAL_MS,
        tickOnce: () => settleMaintenance(maintenance),
      },
    ],
    checks: {},
    stop: async () => {
      await Promise.all([driver.stop(), bundleDriver.stop(), imports.stop(), webhooks.stop()]);
    },
  };
}

function webhookParts(config: ClusterStatusConfig, infra: Infra, db: Db<DB>) {
  const reach = webhookReach(config.BATON_WEBHOOKS_ALLOW);
  const seals = createTextSealClient(infra.rpc);
  const { clock, log } = infra;
  const deliverer = deliverWebhooks({ db, seals, post: createSafePost(reach), clock, log }, infra.instanceId);
  const deps = { db, seals, clock, reach, kick: deliverer.kick };
  return {
    routes: [
      ...webhooksHttp(deps),
      ...triggersHttp({ db, seals, clock, peers: createTriggerPeers(infra.rpc) }),
    ],
    consumers: onFacts(deps),
    loops: [
      deliverer.loop,
      pruneWebhookDeliveries(deps),
      resealTextsLoop({ db, seals, log }),
      {
        name: 'prune-trigger-calls',
        intervalMs: PRUNE_INTERVAL_MS,
        tickOnce: () => pruneTriggerCalls(deps),
      },
    ],
    stop: deliverer.stop,
  };
}

function snapshotDeps(config: ClusterStatusConfig, infra: Infra, db: Db<DB>, kick: () => void): SnapshotDeps {
  return {
    db,
    blobs: infra.blobs,
    parts: createSnapshotParts(infra.rpc),
    seals: createSealClient(infra.rpc),
    executions: createSystemExecutions(infra.rpc),
    clock: infra.clock,
    log: infra.log,
    instanceId: infra.instanceId,
    kick,
    maxBytes: config.BATON_SNAPSHOT_MAX_BYTES,
  };
}

function importParts(infra: Infra, { parts, ...deps }: SnapshotDeps) {
  const { catalog, deployments } = parts;
  const imports: ImportDeps = {
    ...deps,
    parts: { catalog, deployments },
    imports: createImportParts(infra.rpc),
    seals: createTextSealClient(infra.rpc),
    findUser: createUserLookup(infra.rpc),
    kick: () => void driver.work(),
  };
  const driver = driveImports(imports);
  return { routes: importsHttp(imports), loop: driver.loop, stop: driver.stop };
}

function statusDeps(config: ClusterStatusConfig, db: Db<DB>, os: OsRelease): StatusDeps {
  return {
    db,
    os,
    edition: config.BATON_EDITION,
    publicIp: config.BATON_PUBLIC_IP,
    hasRabbit: config.BATON_BROKER === 'rabbitmq',
    build: { commit: config.BATON_COMMIT ?? null, date: config.BATON_BUILD_DATE ?? null },
  };
}

function archiveFetch(config: ClusterStatusConfig): FetchArchive {
  const fetch = createSafeFetch(config.BATON_ALLOW_PRIVATE_URLS ? { isAllowed: () => true } : {});
  const limits = { maxBytes: config.BATON_SNAPSHOT_MAX_BYTES, totalMs: config.BATON_DOWNLOAD_TIME };
  return (url, field, signal) => fetch(url, { ...limits, field }, signal);
}

function shippedValues(config: ClusterStatusConfig): ShippedValues {
  const publicIp = config.BATON_PUBLIC_IP ?? hostname();
  const isS3 = config.BATON_BLOBS === 's3';
  return {
    publicIp,
    fileServerRoot: isS3 ? config.BATON_S3_BUCKET : config.BATON_BLOBS,
    fileServerUrl: `http://${publicIp}/resources`,
    fileServerType: isS3 ? 's3' : 'local',
    s3Url: config.BATON_S3_ENDPOINT ?? '',
    s3Bucket: config.BATON_S3_BUCKET,
    taskRetries: config.BATON_TASK_RETRIES,
    taskRetryIntervalS: config.BATON_TASK_RETRY_INTERVAL,
    subgraphRetries: config.BATON_SUBGRAPH_RETRIES,
  };
}

/** Reads the name and release of the operating system. Without the file (not Linux): the platform name and an empty release. */
function readOsRelease() {
  try {
    return parseOsRelease(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return { distribution: process.platform, release: '' };
  }
}

/** The RPC parts that every service with tables serves: snapshot, tenant and doctor. */
function tableParts(db: Db<DB>, { log }: Infra) {
  const schema = 'cluster_status';
  return [
    createSnapshotPart({ db, schema, tables: snapshotTables, log }),
    createTenantPart({ db, schema }),
    createDoctorPart({ db, log, checks: doctorChecks }),
  ];
}
