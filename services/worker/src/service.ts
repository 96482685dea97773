import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { agentPlugin, makeAgentScript, readHostLogin } from '@baton/agent-installer/plugin';
import { compositionPlugin } from '@baton/composition';
import { firstTaskReady, taskReady, tasksCancelled } from '@baton/contracts';
import type { Choice } from '@baton/isolation';
import { isoInstant, type Log } from '@baton/kernel';
import {
  buildRegistry,
  buildWorkflowRegistry,
  type CtxHost,
  createCtxHost,
  createModuleProcesses,
  createWarmPython,
  defaultAssetsDir,
  type ModuleProcesses,
  ownDir,
  type ScriptSettings,
  startOrphanGuard,
  sweepOwnDirs,
  type WarmPython,
} from '@baton/plugin-runtime';
import type { Plugin } from '@baton/plugin-sdk';
import {
  type ConsumerPart,
  consumerPart,
  type Infra,
  productVersion,
  type ServiceParts,
  subscriptionPart,
} from '@baton/service-runtime';
import { createCatalogClient } from './adapters/catalog.client';
import { createDeploymentsClient } from './adapters/deployments.client';
import { createExecutionsClient } from './adapters/executions.client';
import { createReadSecret } from './adapters/read-secret';
import { createSafeFetch, downloaded } from './adapters/safe-fetch';
import { tryHandlers } from './code/handlers';
import { createModulePlugins } from './code/module-plugins';
import { createPythonPlugins } from './code/python-plugins';
import { configSchema, placesOf, scriptEnv, type WorkerConfig } from './config';
import { createBlueprintFiles } from './files/blueprint-files';
import { createFileCache } from './files/file-cache';
import { createFolderIndex } from './files/folder-index';
import { createOperationFolders } from './files/operation-folder';
import {
  isolationOf,
  isolationSettings,
  isolationText,
  pythonInside,
  reachOf,
} from './isolation/isolation-of-worker';
import { workerVariables } from './isolation/own-environment';
import { onTaskReady } from './messages/on-task-ready';
import { onTasksCancelled } from './messages/on-tasks-cancelled';
import { createWorker, type Worker, type WorkerDeps } from './worker';

export { configSchema, workerVariables };
export const serviceName = 'worker' as const;

/** Composes the worker. */
export function buildService(config: WorkerConfig, infra: Infra): ServiceParts {
  const { slots, sharing } = placesOf(config);
  const workRoot = resolve(config.BATON_WORKER_DIR);
  const assetsDir = config.BATON_WORKER_ASSETS ?? defaultAssetsDir;
  const settings = isolationSettings(config, { workRoot, assetsDir });
  const choice = isolationOf(settings);
  tellIsolation(infra.log, choice);
  const { plugins, problem } = tryHandlers(config.BATON_WORKER_HANDLERS);
  if (problem !== null) tellProblem(infra.log, problem);
  const about = aboutWorker(infra, { slots, reserve: sharing.reserve, choice, problem });
  const executions = createExecutionsClient(infra.rpc, infra.instanceId, about);
  const guard = startOrphanGuard();
  const ctxHost = createCtxHost();
  const scripts = {
    assetsDir,
    workRoot,
    python: pythonInside(choice, settings, config.BATON_WORKER_PYTHON),
    baseEnv: scriptEnv(config),
    managerUrl: config.BATON_WORKER_MANAGER_URL,
    guard,
    isolation: choice.isolation,
    ctxHost,
  };
  const warm = createWarmPython();
  const runtime = { ...runtimeOf(config, infra, scripts, plugins), warm };
  const worker = createWorker({
    slots,
    sharing,
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
    mostWaiting: slots,
  });
  return {
    name: serviceName,
    routes: [],
    rpc: [],
    consumers: problem === null ? readyConsumers(slots, ready) : [],
    subscriptions: [cancels(worker)],
    loops: [],
    checks: {
      isolation: async () => isolationText(choice),
      ...(problem !== null && { handlers: () => Promise.reject(new Error(problem)) }),
    },
    ...lifeOf(config, { worker, scripts, warm, choice, modules: runtime.modules }),
  };
}

/**
 * Messages about the first operations of a tenant have their own queue, so that they do not wait behind those of a tenant with
 * more work than slots. A worker without its handlers takes no operations: other workers do, or executions wait and show the
 * reason.
 */
function readyConsumers(slots: number, handler: ReturnType<typeof onTaskReady>): ConsumerPart[] {
  return [
    consumerPart(taskReady, { queue: serviceName, prefetch: slots, handler }),
    // Twice as many as slots: even when `slots` messages wait, others can be examined.
    consumerPart(firstTaskReady, { queue: serviceName, prefetch: 2 * slots, handler }),
  ];
}

function lifeOf(
  config: WorkerConfig,
  o: {
    worker: Worker;
    scripts: ScriptSettings & { ctxHost: CtxHost };
    warm: WarmPython;
    choice: Choice;
    modules: ModuleProcesses;
  },
): Required<Pick<ServiceParts, 'start' | 'stop'>> {
  const { guard, ctxHost, workRoot } = o.scripts;
  return {
    start: async () => {
      await sweepOwnDirs(workRoot);
      o.choice.egress.admit(await ctxHost.listen());
      o.worker.start();
    },
    stop: async () => {
      await o.worker.stop(config.BATON_WORKER_STOP_AFTER);
      await o.warm.close();
      await o.modules.close();
      guard.close();
      ctxHost.close();
      await o.choice.egress.close();
      o.choice.groups.close();
    },
  };
}

const cancels = ({ leaseDeps, askForCancels }: Worker) =>
  subscriptionPart(tasksCancelled, onTasksCancelled({ tasks: leaseDeps.tasks, ask: askForCancels }));

/** Facts about the worker that its heartbeats report. */
function aboutWorker(
  { clock }: Infra,
  has: { slots: number; reserve: number; choice: Choice; problem: string | null },
): object {
  const { name, notEnforced } = has.choice.isolation;
  return {
    hostname: hostname(),
    version: productVersion,
    slots: has.slots,
    reserve: has.reserve,
    started_at: isoInstant(clock.now()),
    pid: process.pid,
    isolation: { name, notEnforced },
    ...(has.problem === null ? {} : { handlers_error: has.problem }),
  };
}

function runtimeOf(
  config: WorkerConfig,
  infra: Infra,
  scripts: ScriptSettings,
  loaded: readonly Plugin[],
): WorkerDeps['runtime'] & { modules: ModuleProcesses } {
  const fetchUrl = createSafeFetch(config.BATON_WORKER_FETCH_ALLOW);
  const composition = compositionPlugin({
    managerUrl: config.BATON_WORKER_MANAGER_URL,
    clock: infra.clock,
    download: (url, signal) => downloaded(fetchUrl, url, signal),
  });
  const agents = agentPlugin({
    managerUrl: config.BATON_WORKER_MANAGER_URL,
    clock: infra.clock,
    reach: reachOf(config),
  });
  const plugins = [composition, agents, ...loaded];
  return {
    operations: buildRegistry(plugins),
    workflows: buildWorkflowRegistry(plugins),
    scripts,
    modules: createModuleProcesses(scripts),
  };
}

function hostOf(config: WorkerConfig, { clock, rpc }: Infra, settings: ScriptSettings): WorkerDeps['host'] {
  const { workRoot } = settings;
  const catalog = createCatalogClient(rpc);
  const reach = reachOf(config);
  const cache = createFileCache({
    clock,
    dir: `${workRoot}/files`,
    maxBytes: config.BATON_WORKER_CACHE_BYTES,
  });
  const files = createBlueprintFiles({ catalog, cache });
  const fetchUrl = createSafeFetch(config.BATON_WORKER_FETCH_ALLOW);
  return {
    deployments: createDeploymentsClient(rpc),
    files,
    plugins: createPythonPlugins({
      catalog,
      files,
      cache,
      fetchUrl,
      settings,
      clock,
      modules: createModulePlugins({
        workRoot,
        clock,
        allowsInspect: config.BATON_WORKER_PLUGIN_INSPECT,
      }),
    }),
    readSecret: createReadSecret(config.BATON_WORKER_MANAGER_URL),
    folders: createOperationFolders({
      catalog,
      cache,
      index: createFolderIndex(catalog),
      accountOf: settings.isolation.accountOf,
      copiesDir: ownDir(workRoot, 'copies'),
    }),
    fetchUrl,
    sshLogin: (host) => readHostLogin(config.BATON_WORKER_MANAGER_URL, { ...host, reach }),
    agentScript: (host) => makeAgentScript(config.BATON_WORKER_MANAGER_URL, host),
  };
}

function tellProblem(log: Log, problem: string): void {
  log.error({ problem }, 'the worker takes no operations');
  // The standalone that started this worker is not ready while the problem lasts.
  process.send?.({ workerProblem: problem }, undefined, undefined, () => undefined);
}

function tellIsolation(log: Log, { isolation, attempts }: Choice): void {
  const { name, description, notEnforced } = isolation;
  const fields = { isolation: name, notEnforced, attempts };
  // A parent process that wants this message shows it to the user (apps/standalone).
  process.send?.({ isolation: { name, description, notEnforced } }, undefined, undefined, () => undefined);
  if (name === 'none') log.warn(fields, 'operations are not isolated');
  else log.info(fields, `operations are isolated: ${description}`);
}
