import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { compositionPlugin } from '@baton/composition';
import { taskReady, tasksCancelled } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import {
  buildRegistry,
  buildWorkflowRegistry,
  defaultAssetsDir,
  type OrphanGuard,
  ownDir,
  type ScriptSettings,
  startOrphanGuard,
  sweepOwnDirs,
} from '@baton/plugin-runtime';
import type { Plugin } from '@baton/plugin-sdk';
import {
  consumerPart,
  type Infra,
  productVersion,
  type ServiceParts,
  subscriptionPart,
} from '@baton/service-runtime';
import { createCatalogClient } from './adapters/catalog.client';
import { createDeploymentsClient } from './adapters/deployments.client';
import { createExecutionsClient } from './adapters/executions.client';
import { createSafeFetch, downloaded } from './adapters/safe-fetch';
import { createSecretsClient } from './adapters/secrets.client';
import { createBlueprintFiles } from './blueprint-files';
import { configSchema, scriptEnv, slotsOf, type WorkerConfig } from './config';
import { createFileCache } from './file-cache';
import { createFolderIndex } from './folder-index';
import { tryHandlers } from './handlers';
import { onTaskReady } from './messages/on-task-ready';
import { onTasksCancelled } from './messages/on-tasks-cancelled';
import { createOperationFolders } from './operation-folder';
import { createPythonPlugins } from './python-plugins';
import { createWorker, type WorkerDeps } from './worker';

export { configSchema };
export const serviceName = 'worker' as const;

/** Composes the worker. */
export function buildService(config: WorkerConfig, infra: Infra): ServiceParts {
  const slots = slotsOf(config);
  const workRoot = resolve(config.BATON_WORKER_DIR);
  const handlers = tryHandlers(config.BATON_WORKER_HANDLERS);
  const { problem } = handlers;
  if (problem !== null) {
    infra.log.error({ problem }, 'the worker takes no operations');
    // The standalone that started it is not ready without it.
    process.send?.({ workerProblem: problem }, undefined, undefined, () => undefined);
  }
  const executions = createExecutionsClient(infra.rpc, infra.instanceId, {
    hostname: hostname(),
    version: productVersion,
    slots,
    started_at: isoInstant(infra.clock.now()),
    pid: process.pid,
    ...(problem === null ? {} : { handlers_error: problem }),
  });
  const guard = startOrphanGuard();
  const runtime = runtimeOf(config, infra, workRoot, guard, handlers.plugins);
  const worker = createWorker({
    slots,
    executions,
    clock: infra.clock,
    log: infra.log,
    logLimit: config.BATON_WORKER_LOG_BUFFER,
    runtime,
    handlers: config.BATON_WORKER_HANDLERS,
    host: hostOf(config, infra, runtime.scripts),
  });
  const ready = onTaskReady({
    ...worker.leaseDeps,
    executions,
    publish: (envelopes) => infra.broker.publish(envelopes),
    isDraining: worker.isDraining,
  });
  return {
    name: serviceName,
    routes: [],
    rpc: [],
    // Without its handlers it takes nothing: other workers do, or executions wait and say why.
    consumers:
      problem !== null
        ? []
        : [consumerPart(taskReady, { queue: serviceName, prefetch: slots, handler: ready })],
    subscriptions: [subscriptionPart(tasksCancelled, onTasksCancelled(worker.leaseDeps))],
    loops: [],
    checks: problem === null ? {} : { handlers: () => Promise.reject(new Error(problem)) },
    start: async () => {
      await sweepOwnDirs(workRoot);
      worker.start();
    },
    stop: async () => {
      await worker.stop(config.BATON_WORKER_STOP_AFTER);
      guard.close();
    },
  };
}

function runtimeOf(
  config: WorkerConfig,
  infra: Infra,
  workRoot: string,
  guard: OrphanGuard,
  loaded: readonly Plugin[],
): WorkerDeps['runtime'] {
  const fetchUrl = createSafeFetch(config.BATON_WORKER_FETCH_ALLOW);
  const composition = compositionPlugin({
    managerUrl: config.BATON_WORKER_MANAGER_URL,
    clock: infra.clock,
    download: (url, signal) => downloaded(fetchUrl, url, signal),
  });
  const plugins = [composition, ...loaded];
  return {
    operations: buildRegistry(plugins),
    workflows: buildWorkflowRegistry(plugins),
    scripts: {
      assetsDir: config.BATON_WORKER_ASSETS ?? defaultAssetsDir,
      workRoot,
      python: config.BATON_WORKER_PYTHON,
      baseEnv: scriptEnv(config),
      managerUrl: config.BATON_WORKER_MANAGER_URL,
      guard,
      account: accountOf(config),
    },
  };
}

function hostOf(config: WorkerConfig, { clock, rpc }: Infra, settings: ScriptSettings): WorkerDeps['host'] {
  const { workRoot } = settings;
  const catalog = createCatalogClient(rpc);
  const cache = createFileCache({
    clock,
    dir: `${workRoot}/files`,
    maxBytes: config.BATON_WORKER_CACHE_BYTES,
  });
  const files = createBlueprintFiles({ catalog, cache });
  const fetchUrl = createSafeFetch(config.BATON_WORKER_FETCH_ALLOW);
  return {
    deployments: createDeploymentsClient(rpc),
    secrets: createSecretsClient(rpc),
    files,
    plugins: createPythonPlugins({ catalog, files, cache, fetchUrl, settings, clock }),
    folders: createOperationFolders({
      catalog,
      cache,
      index: createFolderIndex(catalog),
      account: accountOf(config),
      copiesDir: ownDir(workRoot, 'copies'),
    }),
    fetchUrl,
  };
}

/** The account that scripts run as; null: that of the worker. */
function accountOf({
  BATON_WORKER_SCRIPT_UID: uid,
  BATON_WORKER_SCRIPT_GID: gid,
}: WorkerConfig): { uid: number; gid: number } | null {
  return uid === undefined ? null : { uid, gid: gid ?? uid };
}
