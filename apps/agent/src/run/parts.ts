/** The worker inside of the agent. */
import { join } from 'node:path';
import type { AgentSettings } from '@baton/contracts';
import { noIsolation } from '@baton/isolation';
import type { Clock, Log } from '@baton/kernel';
import {
  buildRegistry,
  buildWorkflowRegistry,
  createCtxHost,
  createModuleProcesses,
  createWarmPython,
  type OrphanGuard,
  ownDir,
  type ScriptSettings,
  startOrphanGuard,
} from '@baton/plugin-runtime';
import { FatalError } from '@baton/plugin-sdk';
import type { RpcConnector } from '@baton/rpc';
import {
  createBlueprintFiles,
  createCatalogClient,
  createDeploymentsClient,
  createFileCache,
  createFolderIndex,
  createModulePlugins,
  createOperationFolders,
  createPythonPlugins,
  createSafeFetch,
  createWorker,
  type Worker,
} from '@baton/worker/parts';
import type { AgentConfig } from '../config';
import type { TaskJournal } from '../journal/task-journal';
import type { Places } from '../places';
import type { AgentExecutions } from './agent-executions';
import type { JournalLogs } from './journal-logs';
import { journalRecords } from './records';
import { operationEnv, workRootOf } from './settings';

/** Bytes of cached files of blueprints and plugins. */
const CACHE_BYTES = 500_000_000;
/** A cancel whose notice was lost is found after this time; also how fast a renewed lease follows. */
const BEAT_MS = 15_000;

export interface PartsDeps {
  config: AgentConfig;
  places: Places;
  settings: AgentSettings;
  assetsDir: string;
  /** Runs a file of JavaScript; absent: Node.js does. */
  javascript?: readonly string[] | undefined;
  rpc: RpcConnector;
  executions: AgentExecutions;
  journal: TaskJournal;
  logs: JournalLogs;
  clock: Clock;
  log: Log;
}

export interface AgentParts {
  worker: Worker;
  workRoot: string;
  /** The environment of operations changes with the settings. */
  setEnv(settings: AgentSettings): void;
  start(): Promise<void>;
  close(): Promise<void>;
}

export function createParts(deps: PartsDeps): AgentParts {
  const { config, places, settings, clock, log } = deps;
  const workRoot = workRootOf(places, settings, config);
  const guard = journaledGuard(startOrphanGuard(), deps.journal);
  const ctxHost = createCtxHost();
  const baseEnv = operationEnv(config, places, settings);
  const scripts: ScriptSettings = {
    assetsDir: deps.assetsDir,
    workRoot,
    python: config.python,
    baseEnv,
    managerUrl: config.managerUrl ?? config.addresses[0]!,
    guard,
    isolation: noIsolation(),
    ctxHost,
    ...(deps.javascript && { javascript: deps.javascript }),
  };
  const warm = createWarmPython();
  const modules = createModuleProcesses(scripts);
  const worker = createWorker({
    slots: settings.maxWorkers,
    executions: deps.executions,
    runtime: { operations: buildRegistry([]), workflows: buildWorkflowRegistry([]), scripts, modules, warm },
    host: hostOf(deps, scripts),
    clock,
    log,
    logLimit: 0,
    logs: deps.logs,
    records: journalRecords(deps.journal, log),
    mostBeatMs: BEAT_MS,
  });
  return {
    worker,
    workRoot,
    setEnv: (next) => {
      for (const name of Object.keys(baseEnv)) delete baseEnv[name];
      Object.assign(baseEnv, operationEnv(config, places, next));
    },
    start: async () => void (await ctxHost.listen()),
    close: async () => {
      await warm.close();
      await modules.close();
      guard.close();
      ctxHost.close();
    },
  };
}

/** Records process groups in the journal too: the guard is a process, which may be killed with the agent. */
function journaledGuard(guard: OrphanGuard, journal: TaskJournal): OrphanGuard {
  return {
    ...guard,
    add: (groupId) => {
      journal.group(groupId);
      guard.add(groupId);
    },
    remove: (groupId) => {
      journal.ungroup(groupId);
      guard.remove(groupId);
    },
  };
}

function hostOf(deps: PartsDeps, settings: ScriptSettings): Parameters<typeof createWorker>[0]['host'] {
  const { clock, rpc } = deps;
  const { workRoot } = settings;
  const catalog = createCatalogClient(rpc);
  const cache = createFileCache({ clock, dir: join(workRoot, 'files'), maxBytes: CACHE_BYTES });
  const files = createBlueprintFiles({ catalog, cache });
  // The host reaches what it reaches; the agent protects no network of the manager.
  const fetchUrl = createSafeFetch(['0.0.0.0/0', '::/0']);
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
      modules: createModulePlugins({ workRoot, clock }),
    }),
    readSecret: (name) =>
      Promise.reject(
        new FatalError(
          `the operation asks for the secret ${name}, which a host does not get: name it in an input with get_secret, or run the operation on the manager (executor: central_deployment_agent)`,
        ),
      ),
    folders: createOperationFolders({
      catalog,
      cache,
      index: createFolderIndex(catalog),
      accountOf: settings.isolation.accountOf,
      copiesDir: ownDir(workRoot, 'copies'),
    }),
    fetchUrl,
  };
}
