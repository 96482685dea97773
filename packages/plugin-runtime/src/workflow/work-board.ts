import type { Json } from '@baton/kernel';
import {
  CancelledError,
  type FailureDecision,
  FatalError,
  isMarkedError,
  WorkflowFailedError,
  type WorkOptions,
} from '@baton/plugin-sdk';
import { Scope } from './scope';
import type { StepResult, WorkDecision, WorkItem, WorkTask } from './work';
import type { WorkSession } from './work-session';

const LOOK_MS = 60_000;

/** What the code does itself about its tasks, by key. */
interface Doings {
  steps: Map<string, () => Json | Promise<Json>>;
  failures: Map<string, NonNullable<WorkOptions['onFailure']>>;
}

/** Gives work its keys, remembers what the code does itself about it, and waits for it. */
export class WorkBoard {
  #count = 0;
  readonly #used = new Set<string>();
  readonly #doings: Doings = { steps: new Map(), failures: new Map() };
  /** Runs of asking tasks that somebody attends to. */
  readonly #attended = new Set<string>();

  constructor(
    readonly session: WorkSession,
    private readonly waitAfterFailMs: number,
  ) {}

  /** @throws FatalError when the code gives one name to two pieces of work. */
  keyOf(options: WorkOptions = {}): string {
    const key = options.key === undefined ? `${++this.#count}` : `:${options.key}`;
    if (this.#used.has(key)) throw new FatalError(`two pieces of work have the key ${options.key}`);
    this.#used.add(key);
    if (options.onFailure) this.#doings.failures.set(key, options.onFailure);
    return key;
  }

  step(key: string, run: () => Json | Promise<Json>): void {
    this.#doings.steps.set(key, run);
  }

  /** Submits `items` and waits for all of them. @throws WorkflowFailedError, CancelledError, RefusedWork. */
  async run(items: readonly WorkItem[], waitAfterFailMs = this.waitAfterFailMs): Promise<WorkTask[]> {
    if (items.length === 0) return [];
    const keys = await this.session.submit({ items: [...items] });
    const scope = new Scope(this.session, keys, waitAfterFailMs);
    for (;;) {
      const { asks, end } = await scope.next(LOOK_MS, this.#attended);
      if (this.session.signal.aborted) throw new CancelledError();
      for (const task of asks) this.#attend(task);
      if (end?.kind === 'succeeded') return keys.map((key) => this.session.tasks.get(key)!);
      if (end === null) continue;
      await scope.abandon();
      throw end.kind === 'cancelled' ? new CancelledError() : new WorkflowFailedError(end.message);
    }
  }

  #attend(task: WorkTask): void {
    const run = `${task.idx}:${task.attempt}`;
    this.#attended.add(run);
    const answer = task.state === 'response-sent' ? this.#decide(task) : this.#carryOut(task);
    // A lost answer: the run is being stopped, nobody waits for it.
    answer.then((work) => this.session.submit(work)).catch(() => undefined);
  }

  async #decide(task: WorkTask): Promise<{ decisions: WorkDecision[] }> {
    const ask = this.#doings.failures.get(task.key);
    const { idx, attempt, error } = task;
    const none = { idx, attempt, retryAfterMs: null, ignoreTotalRetries: false };
    const decided = async (): Promise<FailureDecision> => (ask && error ? await ask(error) : 'fail');
    const said = await decided().catch((): FailureDecision => 'fail');
    const { decision, ...more } = typeof said === 'string' ? { decision: said } : said;
    if (decision !== 'retry')
      return { decisions: [{ ...none, decision: decision === 'ignore' ? 'go-on' : 'fail' }] };
    const { retryAfter, ignoreTotalRetries } = more as { retryAfter?: number; ignoreTotalRetries?: boolean };
    const retryAfterMs = retryAfter === undefined ? null : retryAfter * 1000;
    return {
      decisions: [{ ...none, decision, retryAfterMs, ignoreTotalRetries: ignoreTotalRetries === true }],
    };
  }

  async #carryOut({ key, idx, attempt }: WorkTask): Promise<{ steps: StepResult[] }> {
    const run = this.#doings.steps.get(key);
    try {
      if (!run) throw new FatalError(`the code knows no step ${key}`);
      return { steps: [{ idx, attempt, result: (await run()) ?? null, error: null }] };
    } catch (thrown) {
      return { steps: [{ idx, attempt, result: null, error: stepError(thrown) }] };
    }
  }
}

function stepError(thrown: unknown): NonNullable<StepResult['error']> {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const isMarked = isMarkedError(error);
  return {
    type: isMarked ? error.exceptionType : error.name,
    message: error.message,
    recoverable: !(error instanceof FatalError),
    retryAfterMs: isMarked && error.retryAfter !== null ? error.retryAfter * 1000 : null,
    traceback: null,
  };
}
