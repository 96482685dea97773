import { failureText } from './failure-text';
import { askOf, isFailed, isFinal, type WorkTask } from './work';
import type { WorkSession } from './work-session';

export interface ScopeNews {
  /** Tasks that wait for the code: a step to carry out, or a question. */
  asks: WorkTask[];
  /** Null: the tasks are still under way. */
  end: { kind: 'succeeded' } | { kind: 'failed'; message: string } | { kind: 'cancelled' } | null;
}

/**
 * Tasks that workflow code waits for together, like a graph (reference/workflows.md 2.2). The wait ends when all have
 * succeeded, when one has failed and no other runs or can start (at the latest after `waitAfterFailMs`), or on a
 * cancel.
 */
export class Scope {
  /** Monotonic ms. */
  #failedAt: number | null = null;

  constructor(
    private readonly session: WorkSession,
    private readonly keys: readonly string[],
    private readonly waitAfterFailMs: number,
  ) {}

  /** Returns the next questions or the end of the tasks; neither of them after `maxMs`. */
  async next(maxMs: number, known: ReadonlySet<string> = new Set()): Promise<ScopeNews> {
    const until = performance.now() + maxMs;
    for (;;) {
      const { seq } = this.session;
      const news = this.#look(known);
      const left = until - performance.now();
      const isOver = this.session.signal.aborted || this.session.failure !== null;
      if (news.asks.length > 0 || news.end !== null || left <= 0 || isOver) return news;
      await this.session.changed(seq, Math.min(left, this.#untilDeadline()));
    }
  }

  #look(known: ReadonlySet<string>): ScopeNews {
    const tasks = this.keys.flatMap((key) => this.session.tasks.get(key) ?? []);
    const asks = tasks.filter((task) => task.isAsking && !known.has(askOf(task)));
    if (asks.length > 0 && this.session.cancel === '') return { asks, end: null };
    return { asks: [], end: this.#endOf(tasks) };
  }

  #endOf(tasks: readonly WorkTask[]): ScopeNews['end'] {
    const isWhole = tasks.length === this.keys.length;
    const judged = tasks.filter((task) => !this.#isSettledAround(task));
    if (isWhole && judged.every((task) => isFinal(task) && !isFailed(task))) return { kind: 'succeeded' };
    if (this.session.cancel !== '') return { kind: 'cancelled' };
    const message = failureText(judged);
    if (message === null) return null;
    this.#failedAt ??= performance.now();
    const isOver = (isWhole && !tasks.some((task) => this.#mayGoOn(task))) || this.#untilDeadline() <= 0;
    return isOver ? { kind: 'failed', message } : null;
  }

  /** Whether the task runs, or will run after its retry interval. */
  #mayGoOn(task: WorkTask): boolean {
    // A subgraph that asks goes on by the decision of its handler.
    if (task.kind === 'subgraph' && task.isAsking) return true;
    if (task.kind === 'subgraph' || isFinal(task)) return false;
    // The engine starts ready tasks at once: a pending task waits for others, or for its retry.
    if (task.state !== 'pending') return true;
    return task.retries > 0 && !this.#isAbandoned(task);
  }

  #isAbandoned(task: WorkTask): boolean {
    for (let up = task.subgraph; up !== null; ) {
      const parent = this.session.tasks.get(up);
      if (!parent || parent.error !== null) return parent !== undefined;
      up = parent.subgraph;
    }
    return false;
  }

  /** Whether a subgraph around the task failed and its handler takes over: it asks, or the code goes on despite the failure. */
  #isSettledAround(task: WorkTask): boolean {
    for (let up = task.subgraph; up !== null; ) {
      const parent = this.session.tasks.get(up);
      if (!parent) return false;
      if (parent.isAsking || parent.error?.ignored === true) return true;
      up = parent.subgraph;
    }
    return false;
  }

  #untilDeadline(): number {
    if (this.#failedAt === null) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#failedAt + this.waitAfterFailMs - performance.now());
  }

  /** Drops the tasks that have not started. */
  async abandon(): Promise<void> {
    const drop = this.keys.filter((key) => this.session.tasks.get(key)?.state === 'pending');
    if (drop.length > 0) await this.session.submit({ drop });
  }
}
