/** The calls of one agent: each is passed on with the agent's own credential, and its answer goes back by the stream. */
import type { AgentFrame, GatewayFrame } from '@baton/contracts';
import { AppError, isAppError, type Log } from '@baton/kernel';
import type { PassedCall, RpcPassage } from '@baton/rpc';
import type { CallerCredential } from '@baton/trust';
import { agentMethodAt } from './agent-methods';
import type { AgentTasks } from './agent-tasks';

export type CallFrame = Extract<AgentFrame, { path: string }>;

export interface AgentCallsDeps {
  passage: RpcPassage;
  credential: CallerCredential;
  tasks: AgentTasks;
  log: Log;
  /** Sends a message to the agent. */
  send(frame: GatewayFrame): void;
  /** Resolves when the agent has taken most of what was sent to it. */
  drained(): Promise<void>;
}

/** Calls of one agent at the same time. */
const MAX_CALLS = 64;
/** Parts of a streamed answer that are sent before the agent has said that it has room. */
const FIRST_CREDIT = 4;
const MAX_CREDIT = 1_024;
/** Largest answer: with its base64 it fits into a message of 8 MiB. */
const MAX_ANSWER_BYTES = 6 * 1024 * 1024 - 4_096;
/** No call of an agent lasts longer. */
const MAX_DEADLINE_MS = 600_000;

/** The agent takes back the call, or its stream has ended. */
const givenUp = new AppError('request_timeout_error', 'The agent gave the call up');

/** One call under way. */
class Running {
  readonly control = new AbortController();
  #credit = FIRST_CREDIT;
  #wake: (() => void) | null = null;

  more(parts: number): void {
    this.#credit = Math.min(MAX_CREDIT, this.#credit + parts);
    this.#wake?.();
  }
  /** Takes room for one part; waits until there is some. @throws the reason of the abort */
  async room(): Promise<void> {
    const { signal } = this.control;
    while (this.#credit === 0) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      this.#wake = null;
    }
    signal.throwIfAborted();
    this.#credit -= 1;
  }
}

export class AgentCalls {
  readonly #running = new Map<number, Running>();
  constructor(private readonly deps: AgentCallsDeps) {}

  get size(): number {
    return this.#running.size;
  }
  /** Begins a call; its answer is sent when it is there. @throws Error when a call with this number is under way */
  begin(frame: CallFrame): void {
    if (this.#running.has(frame.call)) throw new Error(`the call ${frame.call} is under way already`);
    if (this.#running.size >= MAX_CALLS) return this.#fail(frame.call, tooManyCalls());
    const running = new Running();
    this.#running.set(frame.call, running);
    void this.#serve(frame, running).finally(() => this.#running.delete(frame.call));
  }
  giveUp(call: number): void {
    this.#running.get(call)?.control.abort(givenUp);
  }
  more(call: number, parts: number): void {
    this.#running.get(call)?.more(parts);
  }
  /** Gives all calls up. */
  close(): void {
    for (const { control } of this.#running.values()) control.abort(givenUp);
  }

  /** Never rejects. */
  async #serve(frame: CallFrame, running: Running): Promise<void> {
    const { signal } = running.control;
    try {
      const passed = this.#passed(frame, signal);
      if (passed.method.responseStream) await this.#answerInParts(frame.call, passed, running);
      else await this.#answer(frame.call, passed);
    } catch (error) {
      if (!signal.aborted) this.#fail(frame.call, error);
    }
  }

  #passed({ path, body, deadlineMs, lease, traceparent }: CallFrame, signal: AbortSignal): PassedCall {
    return {
      ...agentMethodAt(path),
      body: Buffer.from(body, 'base64'),
      as: this.deps.credential,
      lease: lease ?? '',
      traceparent,
      deadlineMs: Math.min(deadlineMs, MAX_DEADLINE_MS),
      signal,
    };
  }

  async #answer(call: number, passed: PassedCall): Promise<void> {
    const { passage, tasks, send } = this.deps;
    const body = await passage.unary(passed);
    tasks.learn(passed, body);
    if (passed.signal.aborted) return;
    send({ call, body: text(body, passed) });
  }

  async #answerInParts(call: number, passed: PassedCall, running: Running): Promise<void> {
    const { passage, send, drained } = this.deps;
    for await (const part of passage.stream(passed)) {
      await running.room();
      await drained();
      if (passed.signal.aborted) return;
      send({ call, part: text(part, passed) });
    }
    if (!passed.signal.aborted) send({ call, body: '' });
  }

  #fail(call: number, thrown: unknown): void {
    if (!isAppError(thrown)) this.deps.log.error({ err: thrown }, 'call of an agent failed');
    const error = isAppError(thrown)
      ? thrown
      : new AppError('internal_server_error', 'The gateway could not pass the call on');
    const { code, message, details } = error;
    this.deps.send({ call, error: { code, message, details } });
  }
}

/** @throws AppError payload_too_large_error */
function text(bytes: Uint8Array, { method }: PassedCall): string {
  if (bytes.length > MAX_ANSWER_BYTES)
    throw new AppError('payload_too_large_error', `${method.name}: the answer has ${bytes.length} bytes`, {
      expected: `at most ${MAX_ANSWER_BYTES} bytes`,
    });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

const tooManyCalls = (): AppError =>
  new AppError('too_many_requests_error', `An agent may have ${MAX_CALLS} calls at the same time`, {
    limit: MAX_CALLS,
    scope: 'agent',
    expected: `at most ${MAX_CALLS} calls at the same time`,
    retry_after: 1,
  });
