import type { AgentScriptHost, LoginHost } from '@baton/agent-installer/plugin';
import { AppError, beginningOf, type Clock, isAppError, type JsonObject, type Log } from '@baton/kernel';
import type { AgentScript, OperationHost, SshLogin } from '@baton/plugin-runtime';
import { FatalError } from '@baton/plugin-sdk';
import { withLease } from '@baton/rpc';
import type { DeploymentsClient } from '../adapters/deployments.client';
import type { ReadSecret } from '../adapters/read-secret';
import type { SafeFetch } from '../adapters/safe-fetch';
import { type HeldTask, isOwned } from '../claim/held-task';
import type { InstalledPlugins } from '../code/installed-plugins';
import { type BlueprintFiles, insidePath } from '../files/blueprint-files';
import type { OperationFolder, OperationFolders } from '../files/operation-folder';
import type { LogShipper } from '../report/logs';
import type { Masks } from './masks';

/** The most characters of one line or event: a longer one would not fit into one call. */
const MAX_MESSAGE = 64 * 1024;

export interface HostDeps {
  deployments: DeploymentsClient;
  files: BlueprintFiles;
  fetchUrl: SafeFetch;
  logs: LogShipper;
  clock: Clock;
  log: Log;
  folders: OperationFolders;
  plugins: InstalledPlugins;
  readSecret: ReadSecret;
  /** Makes the install script of an agent; absent at a host, where the token of an execution may not do it. */
  agentScript?: (host: AgentScriptHost) => Promise<AgentScript>;
  /** Reads a login at a host (install_method: ssh); absent at a host. */
  sshLogin?: (host: Omit<LoginHost, 'reach'>) => Promise<SshLogin>;
}

/** The host of an operation, with the steps at its end. */
export interface TaskHost extends OperationHost {
  /** Stores the changes of the operation in the working folder of its deployment. @throws FatalError, AppError */
  settle(): Promise<void>;
}

/** Returns the calls that a running operation may make; every write first checks that the lease is still valid. */
export function operationHost(deps: HostDeps, task: HeldTask, masks: Masks): TaskHost {
  const { assignment } = task;
  const { tenant } = assignment;
  // Lines of workflow code are logged as lines of the execution.
  const logger = `ctx.${assignment.isWorkflowCode ? task.executionId : task.taskId}`;
  const { taskId, executionId } = task;
  const line = { logger, taskId, executionId, signal: task.control.signal, lease: task };
  const files = filesHost(deps, task);
  // Listed one by one: a spread costs each operation 7 us instead of 0.1.
  return {
    readResource: files.readResource,
    listResources: files.listResources,
    installedPlugin: files.installedPlugin,
    deploymentPlace: files.deploymentPlace,
    deploymentDir: files.deploymentDir,
    settle: files.settle,
    open: async () => {
      const { secrets, ...model } = await deps.deployments.open(assignment, task);
      // Secrets that the inputs got from get_secret are hidden in all output of the operation.
      masks.add(secrets);
      return model;
    },
    saveRuntimeProperties: (write) => {
      if (!isOwned(task, deps.clock))
        throw new AppError('stale_attempt_error', 'the lease of the operation has run out');
      const of = { ...write, taskId, attempt: task.attempt };
      return deps.deployments.saveRuntimeProperties(assignment, of, task);
    },
    readDeployment: () => deps.deployments.readModel(tenant, assignment.deploymentId, task),
    emit: (kind, level, message) => {
      if (task.control.signal.reason === 'lease-lost') return;
      return deps.logs.add(line, kind, level, beginningOf(masks.hide(message), MAX_MESSAGE));
    },
    cutText: masks.cut,
    hide: masks.hide,
    secret: async (name) => {
      const value = await deps.readSecret(name, assignment, task.control.signal);
      masks.add(value);
      return value;
    },
    fetchUrl: deps.fetchUrl,
    sshLogin: deps.sshLogin && (() => sshLoginOf(deps, task, masks)),
    agentScript: deps.agentScript && ((config) => agentScriptOf(deps, task, masks, config)),
  };
}

async function sshLoginOf(deps: HostDeps, task: HeldTask, masks: Masks): Promise<SshLogin> {
  const { tenant, executionToken, deploymentId, hostInstanceId } = task.assignment;
  if (hostInstanceId === null || deps.sshLogin === undefined)
    throw new FatalError('only operations of hosts, and of what they contain, run over SSH');
  const logger = `ctx.${task.taskId}`;
  const line = {
    logger,
    taskId: task.taskId,
    executionId: task.executionId,
    signal: task.control.signal,
    lease: task,
  };
  const say = (level: string) => (text: string) => void deps.logs.add(line, 'log', level, masks.hide(text));
  return await deps.sshLogin({
    ...{ tenant, executionToken, deploymentId, hostInstanceId },
    log: { info: say('info'), debug: say('debug') },
    hide: masks.add,
  });
}

/** The script holds a token: all of it is hidden in the output of the operation from then on. */
async function agentScriptOf(
  deps: HostDeps,
  task: HeldTask,
  masks: Masks,
  agentConfig: JsonObject,
): Promise<AgentScript> {
  const { assignment } = task;
  const { secrets, self } = await deps.deployments.open(assignment, task);
  masks.add(secrets);
  if (self === null || deps.agentScript === undefined)
    throw new FatalError('ctx.agent is offered to operations of nodes alone');
  const { id, runtime_properties: runtimeProperties } = self.instance;
  const made = await deps.agentScript({
    tenant: assignment.tenant,
    executionToken: assignment.executionToken,
    properties: self.node.properties,
    instance: { id, runtimeProperties },
    agentConfig,
  });
  masks.add([/^TOKEN='(.*)'$/m.exec(made.script)?.[1] ?? made.script, made.link]);
  return made;
}

type FileMethods =
  | 'readResource'
  | 'listResources'
  | 'installedPlugin'
  | 'deploymentPlace'
  | 'deploymentDir'
  | 'settle';

/**
 * Returns the file methods. Files come through caches that operations share; each call of a cache to another service carries the
 * lease of the operation that caused it. Many operations need no file, so the folder is created at the first use.
 */
function filesHost(deps: HostDeps, task: HeldTask): Pick<TaskHost, FileMethods> {
  const { tenant, blueprintId, deploymentId } = task.assignment;
  let opened: OperationFolder | null = null;
  const folder = (): OperationFolder =>
    (opened ??= deps.folders.of(tenant, deploymentId, () => isOwned(task, deps.clock)));
  return {
    readResource: (path) =>
      withLease(task, () =>
        firstOf(path, {
          own: folder().locate,
          blueprint: () => deps.files.locate(tenant, blueprintId, path),
          shared: (inside) => deps.folders.locateShared(tenant, inside),
        }),
      ),
    listResources: (path) =>
      withLease(task, () =>
        firstOf(path, {
          own: folder().list,
          blueprint: () => deps.files.list(tenant, blueprintId, path),
          shared: (inside) => deps.folders.listShared(tenant, inside),
        }),
      ),
    installedPlugin: (name) =>
      withLease(task, () => deps.plugins.of(tenant, blueprintId, name, task.control.signal)),
    deploymentPlace: () => withLease(task, () => folder().place()),
    deploymentDir: () => withLease(task, () => folder().open()),
    settle: async () => {
      if (opened) await withLease(task, opened.settle);
    },
  };
}

/** Places where a resource may be, in order; null: it is not there. */
interface Places<T> {
  own(path: string): Promise<T | null>;
  /** @throws AppError not_found_error */
  blueprint(): Promise<T>;
  shared(path: string): Promise<T | null>;
}

/**
 * Returns the first match. A file that an operation of the deployment has put into its folder has precedence over the blueprint,
 * and the blueprint over the files of the tenant and the global ones (reference/workflows.md 4.2). @throws AppError
 * not_found_error
 */
async function firstOf<T>(path: string, { own, blueprint, shared }: Places<T>): Promise<T> {
  const inside = insidePath(path);
  const found = inside === null ? null : await own(inside);
  if (found !== null) return found;
  try {
    return await blueprint();
  } catch (error) {
    const other = inside !== null && isAppError(error, 'not_found_error') ? await shared(inside) : null;
    if (other === null) throw error;
    return other;
  }
}
