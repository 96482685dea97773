import { setImmediate as nextTurn } from 'node:timers/promises';
import { FatalError, RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { type OperationEnd, stopReason } from '../operation-end';
import { watchDisk } from '../script/disk-watch';
import { stopGroup } from '../script/run-process';
import type { ScriptSettings } from '../script/settings';
import type { OperationTask } from '../task';
import { textOf } from '../thrown';
import { type Allowed, type Calls, callsOf, failureOf } from './answer-calls';
import { endOfFrame } from './end-of-frame';
import { encodeFrame, FrameReader, WireError } from './frames';
import { hasOwnProcesses, killMarked } from './marked-processes';
import type { ModuleLimits, ModulePlugin } from './module-plugin';
import { OutputTail } from './output-tail';
import type { ToModule, WireFailure } from './protocol';
import { helloOf, type LoadedModule } from './read-hello';
import { type StartedProcess, startModuleProcess } from './start-process';

/** The process ended, or was killed, before the operation had ended. */
export interface Lost {
  kind: 'lost';
  /** A sentence with the last lines of the output. */
  why: string;
}

interface Running {
  session: OperationSession;
  calls: Calls;
  settle: (end: OperationEnd | Lost) => void;
  /** The call with which the code of a workflow waits at the engine for news. It may last, so it does not count as the others do. */
  awaiting: { isAnswered: boolean; taken: Promise<void> } | null;
}

/** Calls that a process may have under way; until one is answered, nothing more is read from it. */
const MOST_CALLS = 64;
/** After this many messages other work of the worker gets its turn. */
const TURN_MESSAGES = 500;
const KILL_GRACE_MS = 1_000;
const MOST_RECENT = 32;
const LEVELS = ['debug', 'info', 'warning', 'error', 'critical'];

/** One process of a TypeScript plugin of one tenant. It runs several operations at once. */
export class ModuleProcess {
  /** Resolves when the code is loaded. Rejects with a sentence when it cannot be. */
  readonly loaded: Promise<LoadedModule>;
  /** Resolves when nothing of the process is left. */
  readonly gone: Promise<void>;
  /** Number of operations that it was given. */
  given = 0;
  rssBytes = 0;
  #module: LoadedModule | null = null;
  #running = new Map<number, Running>();
  #calls = 0;
  #callEnded: (() => void) | null = null;
  #ending: Promise<void> | null = null;
  #reason: string | null = null;
  #isUnusable = false;
  #load!: { resolve: (module: LoadedModule) => void; reject: (error: Error) => void };
  /** Hosts of operations that ended a short time ago: what they printed may arrive now. */
  readonly #recent: OperationSession['host'][] = [];
  readonly #tail: OutputTail;
  readonly #started: StartedProcess;
  readonly #settings: ScriptSettings;
  readonly #limits: ModuleLimits;

  private constructor(started: StartedProcess, settings: ScriptSettings, limits: ModuleLimits) {
    this.#started = started;
    this.#settings = settings;
    this.#limits = limits;
    this.loaded = new Promise((resolve, reject) => {
      this.#load = { resolve, reject };
    });
    this.loaded.catch(() => undefined);
    settings.guard.add(started.child.pid);
    if (!hasOwnProcesses(settings.isolation)) settings.guard.addMark(started.mark);
    started.wire.on('error', () => undefined);
    this.#tail = new OutputTail(started.child, (text) => this.#hide(text));
    const timer = setTimeout(() => this.kill('its code takes too long to load'), limits.loadMs);
    this.loaded.finally(() => clearTimeout(timer)).catch(() => undefined);
    this.gone = this.#live();
  }

  /** Starts the process. @throws FatalError, Error when it cannot be started */
  static async start(
    tenant: string,
    plugin: ModulePlugin,
    settings: ScriptSettings,
    limits: ModuleLimits,
  ): Promise<ModuleProcess> {
    return new ModuleProcess(await startModuleProcess(tenant, plugin, settings, limits), settings, limits);
  }

  get isOpen(): boolean {
    return this.#ending === null && this.#reason === null;
  }
  get running(): number {
    return this.#running.size;
  }

  /**
   * Runs an operation, or the code of a workflow, of the loaded plugin to its end.
   * @throws WireError when the inputs are too large
   */
  async run(task: OperationTask, session: OperationSession, allowed: Allowed): Promise<OperationEnd | Lost> {
    const op = ++this.given;
    const { signal } = session;
    if (signal.aborted) return { kind: 'stopped', reason: stopReason(signal) };
    const frame = encodeFrame({ t: 'run', op, task } satisfies ToModule);
    let timer: NodeJS.Timeout | undefined;
    const over = new AbortController();
    const onAbort = (): void => {
      void this.#written(encodeFrame({ t: 'abort', op, reason: stopReason(signal) } satisfies ToModule));
      const { graceMs: most } = this.#limits;
      const graceMs = signal.reason === 'lease-lost' ? Math.min(KILL_GRACE_MS, most) : most;
      timer = setTimeout(() => this.kill('an operation that was told to stop did not stop'), graceMs);
    };
    try {
      return await new Promise<OperationEnd | Lost>((settle) => {
        if (!this.isOpen) return settle(this.#lost());
        const calls = callsOf(session, allowed, AbortSignal.any([signal, over.signal]));
        this.#running.set(op, { session, calls, settle, awaiting: null });
        void this.#written(frame);
        signal.addEventListener('abort', onAbort, { once: true });
      });
    } finally {
      over.abort();
      this.#running.delete(op);
      this.#recent.unshift(session.host);
      this.#recent.length = Math.min(this.#recent.length, MOST_RECENT);
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Kills the process. Operations in it are lost for this reason. */
  kill(reason: string): void {
    this.#reason ??= reason;
    this.#end(0);
  }

  /** Ends the process, which has no operations any more. */
  retire(): void {
    this.#reason ??= 'it was ended';
    this.#started.wire.end();
    this.#end(KILL_GRACE_MS);
  }

  #end(graceMs: number): void {
    const { child, group } = this.#started;
    this.#ending ??= stopGroup(child.pid, graceMs, group).finally(() => this.#started.wire.destroy());
  }

  async #live(): Promise<void> {
    const { child, home, group, mark } = this.#started;
    const { diskBytes } = this.#settings.isolation;
    const endWatch =
      diskBytes === null
        ? () => undefined
        : watchDisk([home.path], diskBytes, (found) =>
            this.kill(
              `its files take ${found} bytes; at most ${diskBytes} may lie there (BATON_WORKER_LIMIT_DISK)`,
            ),
          );
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
      child.once('error', (error) => resolve(error.message));
    });
    await this.#read();
    // Without its wire the process is of no use: what is left of its group is killed.
    if (this.#reason === null) await Promise.race([exited, this.#tail.settled()]);
    this.#end(0);
    const how = await exited;
    await this.#ending;
    endWatch();
    await this.#tail.settled();
    if (group?.isOutOfMemory())
      this.#reason ??= 'it took more memory than it may take (BATON_WORKER_LIMIT_MEMORY)';
    this.#reason ??= `it ended by itself with ${how}`;
    group?.end();
    if (!hasOwnProcesses(this.#settings.isolation)) await killMarked(mark);
    this.#settings.guard.remove(child.pid);
    this.#settings.guard.removeMark(mark);
    const lost = this.#lost();
    this.#load.reject(this.#isUnusable ? new FatalError(lost.why) : new RetryableError(lost.why));
    for (const { settle } of this.#running.values()) settle(lost);
    await home.remove();
  }

  #lost(): Lost {
    const tail = this.#tail.text();
    const why = `the process of the plugin is gone: ${this.#reason ?? 'it is ending'}`;
    return { kind: 'lost', why: tail === '' ? why : `${why}; its last output: ${tail}` };
  }

  async #read(): Promise<void> {
    const reader = new FrameReader();
    let messages = 0;
    try {
      for await (const chunk of this.#started.wire)
        for (const message of reader.push(chunk as Buffer)) {
          const waiting = this.#take(message);
          if (waiting) await waiting;
          if (++messages % TURN_MESSAGES === 0) await nextTurn();
        }
    } catch (error) {
      // A broken pipe is the end of the process; everything else is a plugin that does not keep the rules.
      if (error instanceof WireError) this.kill(`it does not keep the rules of the wire: ${error.message}`);
    }
  }

  /** A returned promise asks to read nothing more until it resolves. */
  #take(message: Record<string, unknown>): void | Promise<void> {
    const { t, op } = message;
    if (t === 'unusable') {
      this.#isUnusable = this.#module === null;
      return this.kill(`its code cannot be loaded: ${textOf(message.message)}`);
    }
    if (t === 'hello') {
      if (this.#module) throw new WireError('a second hello');
      this.#module = helloOf(message);
      return this.#load.resolve(this.#module);
    }
    // Late messages of an operation that has ended are no offence.
    const running = this.#running.get(op as number);
    if (t === 'line') return running && takeLine(running, message);
    if (t === 'end') {
      const { rss } = message;
      if (typeof rss === 'number') this.rssBytes = rss;
      return running?.settle(endOfFrame(message.end));
    }
    if (t !== 'call') throw new WireError('a message of an unknown kind');
    if (running) return this.#call(running, message);
  }

  #call(running: Running, message: Record<string, unknown>): void | Promise<void> {
    const { op, id, method, args } = message;
    if (!Number.isSafeInteger(id) || !Array.isArray(args)) throw new WireError('a malformed call');
    const { awaiting } = running;
    if (method === 'awaitWork' && awaiting?.isAnswered)
      return awaiting.taken.then(() => this.#call(running, message));
    const told = answer(running, method, args);
    const taken = told.then((it) => this.#written(answerFrame({ op: op as number, id: id as number }, it)));
    if (method === 'awaitWork' && !awaiting) return waitFor(running, told, taken);
    this.#calls++;
    void taken.finally(() => {
      this.#calls--;
      this.#callEnded?.();
      this.#callEnded = null;
    });
    if (this.#calls < MOST_CALLS) return;
    return new Promise((resolve) => {
      this.#callEnded = resolve;
    });
  }

  /** Resolves when the process has taken the message, or cannot take any. */
  #written(frame: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const { wire } = this.#started;
      if (!wire.writable) return resolve();
      wire.write(frame, () => resolve());
    });
  }

  #hide(text: string): string {
    const hosts = [...[...this.#running.values()].map(({ session }) => session.host), ...this.#recent];
    return hosts.reduce((shown, host) => host.hide(shown), text);
  }
}

function waitFor(running: Running, told: Promise<unknown>, taken: Promise<void>): void {
  const awaiting = { isAnswered: false, taken };
  running.awaiting = awaiting;
  void told.then(() => {
    awaiting.isAnswered = true;
  });
  void taken.finally(() => {
    running.awaiting = null;
  });
}

type Told = { value?: unknown; error?: WireFailure };

/** A value that does not fit becomes an error for the operation. */
function answerFrame(to: { op: number; id: number }, told: Told): Buffer {
  try {
    return encodeFrame({ t: 'answer', ...to, ...told } satisfies ToModule);
  } catch (error) {
    return encodeFrame({ t: 'answer', ...to, error: failureOf(error) } satisfies ToModule);
  }
}

/** A returned promise asks to wait. Only a refused line itself is lost. */
function takeLine({ session }: Running, message: Record<string, unknown>): void | Promise<void> {
  const { kind, level, message: text } = message;
  if ((kind !== 'log' && kind !== 'event') || typeof text !== 'string')
    throw new WireError('a malformed line');
  const known = LEVELS.includes(level as string) ? (level as string) : 'info';
  return session.host.emit(kind, known, text)?.catch(() => undefined);
}

async function answer({ session, calls }: Running, method: unknown, args: readonly unknown[]): Promise<Told> {
  try {
    if (session.signal.aborted) throw new Error('the operation was told to stop');
    if (typeof method !== 'string' || !Object.hasOwn(calls, method))
      throw new Error(`no call ${textOf(method)}`);
    return { value: await calls[method as keyof Calls](args) };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
