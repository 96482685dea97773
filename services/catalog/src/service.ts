/** Composition of the catalog: blueprints and plugins. */

import { dirname, join } from 'node:path';
import { createSealedTexts } from '@baton/cache';
import { deploymentDeleted } from '@baton/contracts';
import { chooseWire, createSafeFetch } from '@baton/http';
import { createImportPart } from '@baton/import-part';
import { createUserLookup } from '@baton/rpc';
import {
  type CpuPool,
  consumerPart,
  createCpuPool,
  createTenantLimits,
  type Infra,
  requireDb,
  resolveWorkerFile,
  type ServiceParts,
  temporarySweep,
} from '@baton/service-runtime';
import { createDoctorPart, createSnapshotPart, createTenantPart } from '@baton/snapshot-part';
import { createBlueprintParser, type ParserDeps } from './adapters/blueprint-parser';
import { deploymentsClient } from './adapters/deployments.client';
import { createImportSources, type SourceDeps } from './adapters/import-sources';
import type { FinishDeps } from './commands/finish-upload';
import { giveUpUpload } from './commands/give-up-upload';
import type { Config } from './config';
import type { ArchiveLimits } from './domain/archive-limits';
import type { FolderLimits } from './domain/file-area';
import { blueprintFilterHttp } from './http/blueprint-filters.routes';
import { blueprintHttp } from './http/blueprints.routes';
import { cloudifyWire } from './http/cloudify/wire-policy';
import { pluginKeyHttp } from './http/plugin-keys.routes';
import { pluginHttp } from './http/plugins.routes';
import { resourceHttp } from './http/resources.routes';
import { usesHttp } from './http/uses.routes';
import { specWire } from './http/wire-policy';
import { createImportTables, type ImportDeps } from './imports/import-tables';
import { sessionQuery } from './imports/session-query';
import { finishUploadsLoop } from './loops/finish-uploads.loop';
import { sweepLoop } from './loops/sweep.loop';
import { onDeploymentDeleted } from './messages/on-deployment-deleted';
import { createPlanCache } from './queries/plan-cache';
import { catalogRpcPart } from './rpc/catalog.rpc';
import { readCacheKey } from './store/cache-key.sql';
import { doctorChecks } from './store/doctor.sql';
import { snapshotTables } from './store/snapshot-tables';
import type { DB } from './store/tables.gen';

export type { Config } from './config';
export { configSchema } from './config';

export const serviceName = 'catalog';

/** Lease of a running upload; renewed while its process works, so that another replica continues soon after a crash. */
const LEASE_MS = 15_000;
/** Most entries of a wagon, which contains a whole virtual environment; only its package.json is read. */
const PLUGIN_ENTRIES = 200_000;
const PLUGIN_UNPACKED_FACTOR = 8;

function limitsOf(config: Config): {
  limits: ArchiveLimits;
  pluginLimits: ArchiveLimits;
  folderLimits: FolderLimits;
  extractLimits: ArchiveLimits;
} {
  const each = { maxRatio: config.BATON_ARCHIVE_MAX_RATIO, maxMs: config.BATON_UNPACK_TIME };
  return {
    limits: {
      ...each,
      maxArchiveBytes: config.BATON_BLUEPRINT_MAX_BYTES,
      maxEntries: config.BATON_BLUEPRINT_MAX_FILES,
      maxTotalBytes: config.BATON_BLUEPRINT_MAX_UNPACKED_BYTES,
    },
    pluginLimits: {
      ...each,
      maxArchiveBytes: config.BATON_PLUGIN_MAX_BYTES,
      maxEntries: PLUGIN_ENTRIES,
      maxTotalBytes: config.BATON_PLUGIN_MAX_BYTES * PLUGIN_UNPACKED_FACTOR,
    },
    folderLimits: {
      maxFiles: config.BATON_FOLDER_MAX_FILES,
      maxBytes: config.BATON_FOLDER_MAX_BYTES,
      maxFileBytes: config.BATON_FOLDER_MAX_FILE_BYTES,
    },
    extractLimits: {
      ...each,
      maxArchiveBytes: config.BATON_FOLDER_MAX_BYTES,
      // Folders count as entries, too.
      maxEntries: 2 * config.BATON_FOLDER_MAX_FILES,
      maxTotalBytes: config.BATON_FOLDER_MAX_BYTES,
    },
  };
}

const pluginSettings = (config: Config) => ({
  requiresSignatures: config.BATON_PLUGINS_REQUIRE_SIGNATURE,
  takesDevelopment: config.BATON_PLUGINS_DEV,
  bundledFolder: join(dirname(require.main?.filename ?? __filename), '../../plugins'),
});

function parsingPool(config: Config): CpuPool {
  return createCpuPool({
    workerFile: resolveWorkerFile(__dirname, 'parse.worker'),
    size: config.BATON_PARSE_THREADS,
    timeLimitMs: config.BATON_PARSE_TIME,
    memoryLimitMb: config.BATON_PARSE_MEMORY_MB,
  });
}

const consumersOf = (db: ReturnType<typeof requireDb<DB>>): ServiceParts['consumers'] => [
  consumerPart(deploymentDeleted, { queue: serviceName, prefetch: 16, handler: onDeploymentDeleted({ db }) }),
];

/** Makes parsers that look for imports by the given statements: those of the service, or of a transaction. */
const parsersOf =
  (deps: Omit<SourceDeps, 'db'> & Pick<ParserDeps, 'pool' | 'clock'>) => (db: SourceDeps['db']) =>
    createBlueprintParser({ ...deps, sources: createImportSources({ ...deps, db }) });

/** Parts that go over the tables as a whole. */
const tableParts = (deps: ImportDeps & Pick<FinishDeps, 'db' | 'log'>): ServiceParts['rpc'] => {
  const { db, log } = deps;
  return [
    createSnapshotPart({ db, schema: 'catalog', tables: snapshotTables, log }),
    createTenantPart({ db, schema: 'catalog' }),
    createImportPart({ db, tables: createImportTables(deps), log }),
    createDoctorPart({ db, log, checks: doctorChecks((id) => giveUpUpload({ db }, id)) }),
  ];
};

export function buildService(config: Config, infra: Infra): ServiceParts {
  const db = requireDb<DB>(infra);
  const { blobs, clock, log } = infra;
  const fetch = createSafeFetch(config.BATON_ALLOW_PRIVATE_URLS ? { isAllowed: () => true } : {});
  const limits = createTenantLimits(infra.rpc);
  const pool = parsingPool(config);
  const downloadMs = config.BATON_DOWNLOAD_TIME;
  const texts = createSealedTexts({ cache: infra.cache, key: () => readCacheKey(db), clock, log });
  const parserFrom = parsersOf({ pool, blobs, clock, log, texts, fetch, downloadMs });
  const shared = {
    db,
    blobs,
    clock,
    fetch,
    pool,
    log,
    downloadMs,
    ...limitsOf(config),
    storageLimit: (tenant: string) => limits.of(tenant).storageBytes,
    ...deploymentsClient(infra.rpc),
    findUser: createUserLookup(infra.rpc),
    ...pluginSettings(config),
  };
  const wire = chooseWire(config.BATON_WIRE, { spec: specWire, cloudify: cloudifyWire });
  const uploads = {
    ...shared,
    texts: wire.texts,
    parse: parserFrom(db),
    kickUploads: () => finishing.kick(),
    instanceId: infra.instanceId,
    leaseMs: LEASE_MS,
  } satisfies FinishDeps;
  const plans = createPlanCache();
  const finishing: ReturnType<typeof finishUploadsLoop> = finishUploadsLoop(uploads);
  return {
    name: 'catalog',
    routes: [
      ...blueprintHttp({ ...uploads, plans }, wire),
      ...blueprintFilterHttp({ ...shared, plans }, wire),
      ...pluginHttp(shared, wire),
      ...pluginKeyHttp(shared),
      ...resourceHttp(shared),
      ...usesHttp({ db }),
    ],
    rpc: [
      catalogRpcPart(uploads),
      ...tableParts({ ...uploads, parserIn: (client) => parserFrom({ query: sessionQuery(client) }) }),
    ],
    consumers: consumersOf(db),
    subscriptions: [limits.subscription],
    loops: [limits.loop, finishing.loop, sweepLoop({ db, blobs }), temporarySweep(blobs)],
    checks: { database: () => db.ping(), blobs: () => blobs.ping() },
    stop: async () => {
      await finishing.idle();
      await pool.close();
    },
  };
}
