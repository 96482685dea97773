import type { Json } from '@baton/kernel';
import {
  CancelledError,
  type FailureDecision,
  FatalError,
  WorkflowFailedError,
  type WorkOptions,
} from '@baton/plugin-sdk';
import { endOfThrown } from '../operation-end';
import { secondsOf, textOf } from '../thrown';
import { Scope } from './scope';
import { askOf, type StepResult, type WorkDecision, type WorkItem, type WorkTask } from './work';
import type { WorkSession } from './work-session';

const LOOK_MS = 60_000;

/** Functions of the code for its tasks, by key: steps and failure handlers. */
interface Doings {
  steps: Map<string, () => Json | Promise<Json>>;
  failures: Map<string, NonNullable<WorkOptions['onFailure']>>;
}

/** Assigns keys to work, stores the code's functions for it, and waits for the work. */
export class WorkBoard {
  #count = 0;
  readonly #used = new Set<string>();
  readonly #doings: Doings = { steps: new Map(), failures: new Map() };
  /** Runs of asking tasks that are being handled. */
  readonly #attended = new Set<string>();

  constructor(
    readonly session: WorkSession,
    private readonly waitAfterFailMs: number,
  ) {}

  /** @throws FatalError when the code gives the same key to two pieces of work. */
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
      if (this.session.failure) throw this.session.failure;
      for (const task of asks) this.#attend(task);
      if (end?.kind === 'succeeded') return keys.map((key) => this.session.tasks.get(key)!);
      if (end === null) continue;
      await scope.abandon();
      throw end.kind === 'cancelled' ? new CancelledError() : new WorkflowFailedError(end.message);
    }
  }

  #attend(task: WorkTask): void {
    this.#attended.add(askOf(task));
    const isQuestion = task.state === 'response-sent';
    const answer = isQuestion ? this.#decide(task) : this.#carryOut(task);
    // A result that cannot be sent (no JSON, or too large) fails its task: a task without an answer would never end.
    // When the failure cannot be sent either, the run of the code is over.
    const { idx, attempt } = task;
    answer
      .then((work) => this.session.submit(work))
      .catch((error: unknown) =>
        this.session.submit(
          isQuestion
            ? { decisions: [{ ...NO_MORE, idx, attempt, decision: 'fail' }] }
            : { steps: [{ idx, attempt, result: null, error: stepError(untold(error)) }] },
        ),
      )
      .catch((error: Error) => this.session.giveUp(error));
  }

  async #decide(task: WorkTask): Promise<{ decisions: WorkDecision[] }> {
    const ask = this.#doings.failures.get(task.key);
    const { idx, attempt, error } = task;
    const decided = async (): Promise<FailureDecision> => (ask && error ? await ask(error) : 'fail');
    const said: unknown = await decided().catch(() => 'fail');
    // The answer comes from the plugin's author: an unknown value counts as a failure.
    const { decision, retryAfter, ignoreTotalRetries } = (
      typeof said === 'object' && said !== null ? said : { decision: said }
    ) as { decision?: unknown; retryAfter?: unknown; ignoreTotalRetries?: unknown };
    const none = { ...NO_MORE, idx, attempt };
    if (decision !== 'retry')
      return { decisions: [{ ...none, decision: decision === 'ignore' ? 'go-on' : 'fail' }] };
    const seconds = secondsOf(retryAfter);
    const retryAfterMs = seconds === null ? null : seconds * 1000;
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

const NO_MORE = { retryAfterMs: null, ignoreTotalRetries: false };

const untold = (error: unknown): FatalError =>
  new FatalError(`The result of the step cannot be told to the manager: ${textOf(error)}`);

function stepError(thrown: unknown): NonNullable<StepResult['error']> {
  const end = endOfThrown(thrown);
  // A step cannot be deferred without its code: it is retried, like a step that requests a retry.
  if (end.kind !== 'failed' && end.kind !== 'retry')
    return { type: 'RecoverableError', message: textOf(thrown), recoverable: true, traceback: null };
  const { failure, retryAfter } = end;
  return {
    type: failure.exceptionType,
    message: failure.message,
    recoverable: end.kind === 'retry' || end.isRecoverable,
    retryAfterMs: retryAfter === null ? null : retryAfter * 1000,
    traceback: null,
  };
}
