/**
 * Unary calls over a channel of messages, any number at a time: the code that both ends of every such channel share. `Body` is the
 * form in which a channel carries bytes.
 */
import { AppError, type ErrorCode, type ErrorDetails, systemClock } from '@baton/kernel';
import type { Caller, HeldLease } from '@baton/trust';
import type { ServedCall } from './definition';

export interface Asked<Body> {
  /** Number of the call, unique in the channel. */
  call: number;
  path: string;
  body: Body;
  /** Milliseconds that the caller still waits. */
  deadlineMs: number;
  /** W3C trace context. */
  traceparent?: string;
  /** Token of the caller, when it differs from the last one of this channel. */
  callerToken?: string;
  /** Proof of the lease for which the caller acts. */
  lease?: string;
}
export interface GivenUp {
  call: number;
  isGivenUp: true;
}
export interface Answered<Body> {
  call: number;
  body?: Body;
  error?: { code: ErrorCode; message: string; details: ErrorDetails };
}

/** The end that calls. */
export interface AskingEnd<Body> {
  isOpen(): boolean;
  send(message: Asked<Body> | GivenUp): void;
  onAnswered(receive: (answered: Answered<Body>) => void): void;
  onClose(closed: () => void): void;
}

/** The end that answers. */
export interface AnsweringEnd<Body> {
  isOpen(): boolean;
  send(message: Answered<Body>): void;
  onAsked(receive: (asked: Asked<Body>) => void): void;
  onGivenUp(receive: (givenUp: GivenUp) => void): void;
  onClose(closed: () => void): void;
}

/**
 * Sends a call and returns its answer. Null: the channel was lost before the answer, and it is unknown whether the call was
 * handled.
 * @throws AppError request_timeout_error after the deadline, or the signal's reason.
 */
export type Ask<Body> = (
  asked: Omit<Asked<Body>, 'call'>,
  signal: AbortSignal | undefined,
) => Promise<Answered<Body> | null>;

interface Waiting<Body> {
  answered(answer: Answered<Body>): void;
  lost(): void;
}

/**
 * Assigns answers to calls. It waits `graceMs` beyond the deadline, so that the answering end can tell why the deadline was missed.
 */
export function createAsker<Body>(end: AskingEnd<Body>, graceMs: number): Ask<Body> {
  const waiting = new Map<number, Waiting<Body>>();
  let last = 0;
  end.onAnswered((answered) => waiting.get(answered.call)?.answered(answered));
  end.onClose(() => {
    for (const one of [...waiting.values()]) one.lost();
  });
  return (asked, signal) => {
    const call = ++last;
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        waiting.delete(call);
        then();
      };
      const giveUp = (reason: unknown): void => {
        if (end.isOpen()) end.send({ call, isGivenUp: true });
        settle(() => reject(reason));
      };
      const expire = (): void =>
        giveUp(new AppError('request_timeout_error', `${asked.path}: Deadline exceeded`));
      const timer = setTimeout(expire, asked.deadlineMs + graceMs);
      const cancel = (): void => giveUp(signal?.reason);
      signal?.addEventListener('abort', cancel, { once: true });
      waiting.set(call, {
        answered: (answer) => settle(() => resolve(answer)),
        lost: () => settle(() => resolve(null)),
      });
      end.send({ call, ...asked });
    });
  };
}

/** A call in progress at the answering end; its signal is made only when the handler asks for it. */
class Running implements ServedCall {
  caller?: Caller;
  lease?: HeldLease | null;
  readonly #until: number;
  #control: AbortController | undefined;
  #reason: Error | undefined;
  constructor(deadlineMs: number) {
    this.#until = systemClock.now() + deadlineMs;
  }
  get signal(): AbortSignal {
    this.#control ??= new AbortController();
    if (this.#reason) this.#control.abort(this.#reason);
    return this.#control.signal;
  }
  get deadlineMs(): number {
    return Math.max(0, this.#until - systemClock.now());
  }
  get isGivenUp(): boolean {
    return this.#reason !== undefined;
  }
  giveUp(reason: Error): void {
    this.#reason = reason;
    this.#control?.abort(reason);
  }
}

/**
 * Answers the calls that arrive at `end`; `answer` never rejects. Calls that are given up, or whose caller is gone, are aborted and
 * get no answer. Returns the running calls; `settled` is called after each.
 */
export function answerCalls<Body>(
  end: AnsweringEnd<Body>,
  answer: (asked: Asked<Body>, call: ServedCall) => Promise<Answered<Body>>,
  settled?: () => void,
): ReadonlyMap<number, ServedCall> {
  const running = new Map<number, Running>();
  end.onGivenUp(({ call }) => running.get(call)?.giveUp(new Error('the caller gave up')));
  end.onAsked((asked) => {
    const one = new Running(asked.deadlineMs);
    running.set(asked.call, one);
    void answer(asked, one).then((answered) => {
      running.delete(asked.call);
      if (!one.isGivenUp && end.isOpen()) end.send(answered);
      settled?.();
    });
  });
  end.onClose(() => {
    for (const one of running.values()) one.giveUp(new Error('the caller is gone'));
  });
  return running;
}

/** Returns the error of an answer, as callers get it. */
export const errorOf = ({ code, message, details }: NonNullable<Answered<never>['error']>): AppError =>
  new AppError(code, message, details);
