import type { ScriptSettings } from '../script/settings';
import { defaultModuleLimits, type ModuleLimits, type ModulePlugin } from './module-plugin';
import { ModuleProcess } from './module-process';

/**
 * A plugin has a process for its operations and one for the code of its workflows: code that has to be killed takes no operation
 * with it, and an operation that blocks its process holds up no code.
 */
export type Purpose = 'operations' | 'workflows';

/** The processes of TypeScript plugins on this worker: one for each tenant, content of a plugin and purpose, kept warm. */
export interface ModuleProcesses {
  /**
   * Returns the process for the next operation and starts it when there is none. The caller must call `run` at once.
   * @throws FatalError, Error when it cannot be started
   */
  of(tenant: string, plugin: ModulePlugin, purpose: Purpose): Promise<ModuleProcess>;
  /** To be called after each operation of a process. */
  settle(process: ModuleProcess): void;
  /** Kills all processes and waits for their end. */
  close(): Promise<void>;
}

interface Kept {
  key: string;
  inspectPort: number | null;
  process: ModuleProcess;
  idle: NodeJS.Timeout | undefined;
  /** Operations that hold the process, also those that wait for its code to load. */
  holders: number;
}

export function createModuleProcesses(
  settings: ScriptSettings,
  given: Partial<ModuleLimits> = {},
): ModuleProcesses {
  return new Pool(settings, { ...defaultModuleLimits, ...given });
}

class Pool implements ModuleProcesses {
  readonly #settings: ScriptSettings;
  readonly #limits: ModuleLimits;
  readonly #starting = new Map<string, Promise<Kept>>();
  /** By key, in the order of their last use. */
  readonly #open = new Map<string, Kept>();
  readonly #all = new Map<ModuleProcess, Kept>();
  #isClosed = false;

  constructor(settings: ScriptSettings, limits: ModuleLimits) {
    this.#settings = settings;
    this.#limits = limits;
  }

  async of(tenant: string, plugin: ModulePlugin, purpose: Purpose): Promise<ModuleProcess> {
    const key = JSON.stringify([tenant, plugin.folder, purpose]);
    // Code of workflows has no debugger: one port fits one process.
    const used = purpose === 'operations' ? plugin : { ...plugin, inspectPort: null };
    const kept = await this.#findOrStart(key, tenant, used);
    clearTimeout(kept.idle);
    kept.holders++;
    if (this.#open.delete(kept.key)) this.#open.set(kept.key, kept);
    return kept.process;
  }

  settle(process: ModuleProcess): void {
    const kept = this.#all.get(process);
    if (!kept) return;
    kept.holders--;
    if (this.#isWorn(kept) || this.#open.get(kept.key) !== kept) return this.#retire(kept);
    if (kept.holders > 0) return;
    kept.idle = setTimeout(() => this.#retire(kept), this.#limits.idleMs).unref();
    const idle = [...this.#open.values()].filter(({ holders }) => holders === 0);
    const tooMany = Math.max(0, idle.length - this.#limits.mostIdle);
    for (const one of idle.slice(0, tooMany)) this.#retire(one);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting.values());
    for (const process of this.#all.keys()) process.kill('the worker stops');
    await Promise.all([...this.#all.keys()].map((process) => process.gone));
  }

  async #findOrStart(key: string, tenant: string, plugin: ModulePlugin): Promise<Kept> {
    const found = this.#open.get(key);
    if (found?.process.isOpen) return found;
    const starting = this.#starting;
    const running = starting.get(key) ?? this.#start(key, tenant, plugin).finally(() => starting.delete(key));
    starting.set(key, running);
    return running;
  }

  async #start(key: string, tenant: string, plugin: ModulePlugin): Promise<Kept> {
    const inspectPort = plugin.inspectPort ?? null;
    if (inspectPort !== null) await this.#freePort(inspectPort);
    const process = await ModuleProcess.start(tenant, plugin, this.#settings, this.#limits);
    const kept: Kept = { key, inspectPort, process, idle: undefined, holders: 0 };
    this.#open.set(key, kept);
    this.#all.set(process, kept);
    const forget = (): void => {
      this.#drop(kept);
      this.#all.delete(process);
    };
    void process.gone.then(forget, forget);
    if (this.#isClosed) process.kill('the worker stops');
    return kept;
  }

  /** Ends the process of the last build: the debugger of the new one has the same port. */
  async #freePort(inspectPort: number): Promise<void> {
    const former = [...this.#all.values()].filter((kept) => kept.inspectPort === inspectPort);
    for (const { process } of former)
      process.kill('a newer build of the plugin takes the port of its debugger');
    await Promise.all(former.map(({ process }) => process.gone));
  }

  /** No further operation gets the process. */
  #drop(kept: Kept): void {
    clearTimeout(kept.idle);
    if (this.#open.get(kept.key) === kept) this.#open.delete(kept.key);
  }

  #retire(kept: Kept): void {
    this.#drop(kept);
    if (kept.holders === 0) kept.process.retire();
  }

  #isWorn({ process }: Kept): boolean {
    return process.given >= this.#limits.recycleOperations || process.rssBytes > this.#limits.recycleBytes;
  }
}
