import { backoffMs, isAppError, type Json, type JsonObject } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import type { WorkPort, WorkSubmission, WorkTask } from './work';

const RETRY = { firstMs: 100, maxMs: 3_000, factor: 2, jitter: 0.3 };

/** The engine refused a request of the code; `type` is the exception that the code sees. */
export class RefusedWork extends Error {
  constructor(
    readonly exceptionType: string,
    message: string,
  ) {
    super(message);
    this.name = exceptionType;
  }
}

/**
 * The engine's side of one run of workflow code: a mirror of its tasks, updated by one waiting call at a time. A call
 * without an answer is repeated until it is answered or the run is stopped. Repeats are harmless, because keys identify
 * the work.
 */
export class WorkSession {
  /** By key; of several tasks with one key the newest. */
  readonly tasks = new Map<string, WorkTask>();
  /** Mode of a requested cancel, or ''. */
  cancel = '';
  /** The reason why the run cannot be completed any more. */
  failure: Error | null = null;
  readonly #changedAt = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  /** Counts changes of the mirror. */
  #seq = 0;
  #version = 0;
  readonly #cancelled = new AbortController();

  constructor(
    readonly port: WorkPort,
    /** Aborted when the run is stopped by force, or has ended. */
    readonly signal: AbortSignal,
  ) {
    void this.#follow();
  }

  get seq(): number {
    return this.#seq;
  }

  get cancelSignal(): AbortSignal {
    return this.#cancelled.signal;
  }

  /** @throws RefusedWork when the engine refuses the work. */
  async submit(work: WorkSubmission): Promise<string[]> {
    const { error, keys } = await this.#lasting(() => this.port.submit(work));
    if (error) throw new RefusedWork(error.type, error.message);
    return keys;
  }

  /** Fails all waiting calls: their answers cannot come. An outdated run is left to its heartbeat, which stops it. */
  giveUp(error: Error): void {
    if (this.signal.aborted || isAppError(error, 'stale_attempt_error')) return;
    this.failure ??= new FatalError(`The code of the workflow cannot go on: ${error.message}`, {
      cause: error,
    });
    this.#wake();
  }

  call(key: string, request: JsonObject): Promise<Json> {
    return this.#lasting(() => this.port.call(key, request));
  }

  /** Tasks that changed after `seq`. */
  changedAfter(seq: number): WorkTask[] {
    return [...this.#changedAt].flatMap(([key, at]) => (at > seq ? [this.tasks.get(key)!] : []));
  }

  /** Resolves at a change after `seq`, when the run is stopped, or after `maxMs`. */
  changed(seq: number, maxMs: number): Promise<void> {
    if (this.#seq > seq || this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, maxMs);
      this.signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
    });
  }

  async #follow(): Promise<void> {
    while (!this.signal.aborted) {
      const after = { version: this.#version, isCancelKnown: this.cancel !== '' };
      try {
        const news = await this.#lasting(() => this.port.await(after, this.signal));
        this.#take(news);
      } catch (error) {
        return this.giveUp(error as Error);
      }
    }
  }

  #take(news: Awaited<ReturnType<WorkPort['await']>>): void {
    this.#version = Math.max(this.#version, news.version);
    const isCancelNew = news.cancel !== '' && this.cancel === '';
    const changes = news.changes.filter((task) => task.idx >= (this.tasks.get(task.key)?.idx ?? 0));
    if (changes.length === 0 && !isCancelNew) return;
    for (const task of changes) {
      this.tasks.set(task.key, task);
      this.#changedAt.set(task.key, this.#seq + 1);
    }
    if (isCancelNew) {
      this.cancel = news.cancel;
      this.#cancelled.abort();
    }
    this.#wake();
  }

  #wake(): void {
    this.#seq++;
    for (const wake of [...this.#waiting]) wake();
  }

  async #lasting<T>(call: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await call();
      } catch (error) {
        // Any other error is not a lost answer: the request or the engine is wrong, and a repeat would fail again.
        if (this.signal.aborted || !isAppError(error) || !error.entry.retryable) throw error;
        await this.changed(Number.POSITIVE_INFINITY, backoffMs(tries, RETRY));
      }
    }
  }
}
