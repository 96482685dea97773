import type { ScriptSettings } from '../script/settings';
import { defaultModuleLimits, type ModuleLimits, type ModulePlugin } from './module-plugin';
import { ModuleProcess } from './module-process';

/** The processes of TypeScript plugins on this worker: one for each tenant and content of a plugin, kept warm. */
export interface ModuleProcesses {
  /**
   * Returns the process for the next operation and starts it when there is none. The caller must call `run` at once.
   * @throws FatalError, Error when it cannot be started
   */
  of(tenant: string, plugin: ModulePlugin): Promise<ModuleProcess>;
  /** To be called after each operation of a process. */
  settle(process: ModuleProcess): void;
  /** Kills all processes and waits for their end. */
  close(): Promise<void>;
}

interface Kept {
  key: string;
  process: ModuleProcess;
  idle: NodeJS.Timeout | undefined;
  /** Operations that hold the process, also those that wait for its code to load. */
  holders: number;
}

export function createModuleProcesses(
  settings: ScriptSettings,
  given: Partial<ModuleLimits> = {},
): ModuleProcesses {
  const limits = { ...defaultModuleLimits, ...given };
  const starting = new Map<string, Promise<Kept>>();
  /** By key, in the order of their last use. */
  const open = new Map<string, Kept>();
  const all = new Map<ModuleProcess, Kept>();
  let isClosed = false;

  const drop = (kept: Kept): void => {
    clearTimeout(kept.idle);
    if (open.get(kept.key) === kept) open.delete(kept.key);
  };
  const retire = (kept: Kept): void => {
    drop(kept);
    if (kept.holders === 0) kept.process.retire();
  };
  const start = async (key: string, tenant: string, plugin: ModulePlugin): Promise<Kept> => {
    const process = await ModuleProcess.start(tenant, plugin, settings, limits);
    const kept: Kept = { key, process, idle: undefined, holders: 0 };
    open.set(key, kept);
    all.set(process, kept);
    void process.gone.finally(() => {
      drop(kept);
      all.delete(process);
    });
    if (isClosed) process.kill('the worker stops');
    return kept;
  };
  const findOrStart = async (key: string, tenant: string, plugin: ModulePlugin): Promise<Kept> => {
    const found = open.get(key);
    if (found?.process.isOpen) return found;
    const running = starting.get(key) ?? start(key, tenant, plugin).finally(() => starting.delete(key));
    starting.set(key, running);
    return running;
  };
  const isWorn = ({ process }: Kept): boolean =>
    process.given >= limits.recycleOperations || process.rssBytes > limits.recycleBytes;

  return {
    of: async (tenant, plugin) => {
      const kept = await findOrStart(JSON.stringify([tenant, plugin.folder]), tenant, plugin);
      clearTimeout(kept.idle);
      kept.holders++;
      open.delete(kept.key);
      open.set(kept.key, kept);
      return kept.process;
    },
    settle: (process) => {
      const kept = all.get(process);
      if (!kept) return;
      kept.holders--;
      if (isWorn(kept) || open.get(kept.key) !== kept) return retire(kept);
      if (kept.holders > 0) return;
      kept.idle = setTimeout(() => retire(kept), limits.idleMs).unref();
      const idle = [...open.values()].filter(({ holders }) => holders === 0);
      for (const one of idle.slice(0, Math.max(0, idle.length - limits.mostIdle))) retire(one);
    },
    close: async () => {
      isClosed = true;
      for (const process of all.keys()) process.kill('the worker stops');
      await Promise.all([...all.keys()].map((process) => process.gone));
    },
  };
}
