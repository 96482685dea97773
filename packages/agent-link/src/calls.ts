/**
 * The calls of an agent through its stream. A call outlives the stream: one that was not sent yet waits for the next stream, and
 * one whose answer was lost with it is sent again where that is safe.
 */
import type { AgentFrame, GatewayFrame, ServiceName } from '@baton/contracts';
import { AppError, type ErrorCode, systemClock } from '@baton/kernel';
import {
  type CallOptions,
  leaseProof,
  type MethodDefinition,
  type RpcClient,
  type RpcConnector,
  type ServiceDefinition,
} from '@baton/rpc';

type Answer = Extract<GatewayFrame, { call: number }>;
type Failure = NonNullable<Extract<Answer, { error?: unknown }>['error']>;

export interface LinkCalls {
  rpc: RpcConnector;
  /** A stream is open: its calls go by `send`. */
  opened(send: (frame: AgentFrame) => void): void;
  /** The stream is gone; calls that wait for an answer may not get it any more. */
  closed(): void;
  receive(answer: Answer): void;
  /** Ends all calls: there will be no further stream. */
  end(): void;
  /** Number of calls without an answer. */
  readonly size: number;
}

export interface LinkCallsOptions {
  /** How long calls of running operations wait for a stream, in ms. */
  patienceMs(): number;
}

const DEFAULT_DEADLINE_MS = 10_000;
/** Extra wait beyond the deadline: the gateway tells why it was missed. */
const ANSWER_MS = 1_000;
/** Parts of a streamed answer that may be under way. */
const PARTS_AHEAD = 8;

/**
 * Calls of running operations. They wait through a cut, and repeating them changes nothing: they read, or say the same again
 * (an update of an instance names its version).
 */
const OF_OPERATIONS = new Set([
  'OpenOperation',
  'UpdateNodeInstance',
  'GetWorkflowModel',
  'GetBlueprint',
  'ListBlueprintFiles',
  'FindPlugins',
  'GetFolder',
  'StorePiece',
  'ChangeFolder',
]);

interface Waiting {
  /** A part or an answer; null: the stream was lost. */
  take(answer: Answer | null): void;
}

export function createLinkCalls(o: LinkCallsOptions): LinkCalls {
  const calls = new Calls(o);
  return {
    rpc: { client: (definition, service) => calls.client(definition, service) },
    opened: (send) => calls.opened(send),
    closed: () => calls.closed(),
    receive: (answer) => calls.receive(answer),
    end: () => calls.end(),
    get size() {
      return calls.size;
    },
  };
}

class Calls {
  readonly #options: LinkCallsOptions;
  readonly #waiting = new Map<number, Waiting>();
  #send: ((frame: AgentFrame) => void) | null = null;
  #last = 0;
  #isEnded = false;
  #openings = new Set<() => void>();

  constructor(options: LinkCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  opened(send: (frame: AgentFrame) => void): void {
    this.#send = send;
    this.#wake();
  }

  closed(): void {
    this.#send = null;
    for (const one of [...this.#waiting.values()]) one.take(null);
  }

  receive(answer: Answer): void {
    this.#waiting.get(answer.call)?.take(answer);
  }

  end(): void {
    this.#isEnded = true;
    this.closed();
    this.#wake();
  }

  client<Def extends ServiceDefinition>(definition: Def, service: ServiceName): RpcClient<Def> {
    const methods = Object.entries(definition.methods).map(([name, method]) => {
      const path = `${service}/${definition.fullName}/${method.name}`;
      return [
        name,
        method.responseStream
          ? (request: unknown, options?: CallOptions) => this.#stream(path, method, request, options ?? {})
          : (request: unknown, options?: CallOptions) => this.#unary(path, method, request, options ?? {}),
      ];
    });
    return Object.fromEntries(methods) as RpcClient<Def>;
  }

  #wake(): void {
    for (const go of [...this.#openings]) go();
  }

  async #unary(path: string, method: MethodDefinition, request: unknown, o: CallOptions): Promise<unknown> {
    const body = packed(method, request);
    const isOfOperation = OF_OPERATIONS.has(method.name);
    const deadlineMs = o.deadlineMs ?? DEFAULT_DEADLINE_MS;
    const until = systemClock.monotonic() + (isOfOperation ? this.#options.patienceMs() : deadlineMs);
    for (;;) {
      o.signal?.throwIfAborted();
      await this.#open(path, until - systemClock.monotonic(), o.signal);
      const answer = await this.#ask({ path, body, deadlineMs, ...lease(o) }, o.signal);
      if (typeof answer === 'object') {
        if ('error' in answer && answer.error) throw errorOf(answer.error);
        return method.responseType.decode(bytesOf('body' in answer ? (answer.body ?? '') : ''));
      }
      // A stream that is cut without a word is silent for a while before it counts as lost.
      if (!isOfOperation || systemClock.monotonic() > until) throw NO_ANSWER[answer](path);
    }
  }

  async *#stream(
    path: string,
    method: MethodDefinition,
    request: unknown,
    o: CallOptions,
  ): AsyncGenerator<unknown> {
    await this.#open(path, this.#options.patienceMs(), o.signal);
    const deadlineMs = o.deadlineMs ?? DEFAULT_DEADLINE_MS;
    const parts: (Answer | null)[] = [];
    let wake: () => void = () => undefined;
    const call = this.#start({
      take: (answer) => {
        parts.push(answer);
        wake();
      },
    });
    const timer = setTimeout(() => {
      const { code, message } = silent(path);
      parts.push({ call, error: { code, message, details: {} } });
      wake();
    }, deadlineMs + ANSWER_MS);
    let isOver = false;
    try {
      this.#tell({ call, path, body: packed(method, request), deadlineMs, ...lease(o) });
      this.#tell({ call, more: PARTS_AHEAD });
      for (;;) {
        o.signal?.throwIfAborted();
        while (parts.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const answer = parts.shift();
        isOver = !answer || !('part' in answer);
        if (!answer) throw cut(path);
        if ('error' in answer && answer.error) throw errorOf(answer.error);
        if (!('part' in answer)) return;
        yield method.responseType.decode(bytesOf(answer.part));
        this.#tell({ call, more: 1 });
      }
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(call);
      if (!isOver) this.#tell({ call, isGivenUp: true });
    }
  }

  #start(waiting: Waiting): number {
    const call = ++this.#last;
    this.#waiting.set(call, waiting);
    return call;
  }

  #tell(frame: AgentFrame): void {
    this.#send?.(frame);
  }

  /** Sends a call. Returns `lost` when the stream was lost before the answer, `silent` when the gateway has not even told why there is none. */
  #ask(
    asked: { path: string; body: string; deadlineMs: number; lease?: string },
    signal: AbortSignal | undefined,
  ): Promise<Answer | NoAnswer> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        this.#waiting.delete(call);
        then();
      };
      const call = this.#start({ take: (answer) => settle(() => resolve(answer ?? 'lost')) });
      const giveUp = (then: () => void): void => {
        this.#tell({ call, isGivenUp: true });
        settle(then);
      };
      const timer = setTimeout(() => giveUp(() => resolve('silent')), asked.deadlineMs + ANSWER_MS);
      const cancel = (): void => giveUp(() => reject(signal?.reason));
      signal?.addEventListener('abort', cancel, { once: true });
      this.#tell({ call, ...asked });
    });
  }

  /** Resolves with an open stream. @throws AppError service_unavailable_error after `waitMs` without one */
  async #open(path: string, waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const until = systemClock.monotonic() + waitMs;
    while (!this.#send) {
      const leftMs = until - systemClock.monotonic();
      if (this.#isEnded || leftMs <= 0) throw cut(path);
      await this.#nextOpening(leftMs, signal);
      signal?.throwIfAborted();
    }
  }

  #nextOpening(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.#openings.delete(go);
        signal?.removeEventListener('abort', go);
        resolve();
      };
      const timer = setTimeout(go, waitMs);
      this.#openings.add(go);
      signal?.addEventListener('abort', go, { once: true });
    });
  }
}

const cut = (path: string): AppError =>
  new AppError('service_unavailable_error', `${path}: the agent has no stream to the manager`);

const silent = (path: string): AppError =>
  new AppError('request_timeout_error', `${path}: Deadline exceeded`);

type NoAnswer = 'lost' | 'silent';
const NO_ANSWER: Record<NoAnswer, (path: string) => AppError> = { lost: cut, silent };

const errorOf = ({ code, message, details }: Failure): AppError =>
  new AppError(code as ErrorCode, message, details);

function lease(o: CallOptions): { lease?: string } {
  const proof = leaseProof(o.lease);
  return proof === '' ? {} : { lease: proof };
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'base64');

function packed(method: MethodDefinition, request: unknown): string {
  const bytes = method.requestType.encode(method.requestType.fromPartial(request)).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
