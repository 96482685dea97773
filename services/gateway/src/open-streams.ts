/** Open event streams. A stream is ended when its session or token ends, or when its caller may no longer read it. */
import { afterDelay, type Clock, isAppError } from '@baton/kernel';
import type { Caller } from './principal-cache';

export interface OpenStream {
  username: string;
  /** Epoch ms at which its session or token ends if it is not used again; absent: it has no end. */
  endsAtMs?: number | undefined;
  /** Checks again whether the caller may read the stream. @throws the error with which the caller would be refused */
  authorizeAgain(): Pick<Caller, 'endsAtMs'> | null | Promise<Pick<Caller, 'endsAtMs'> | null>;
  end(): void;
}

export interface OpenStreams {
  /** Adds a stream. The returned function removes it. */
  add(stream: OpenStream): () => void;
  /** Ends the streams of the user (empty: of every user) whose caller would be refused now. */
  recheck(username: string): Promise<void>;
}

/** Streams that are checked at the same time. */
const AT_ONCE = 16;
/** Shortest time until the next check: the clocks of the services differ a little, and an unanswered check is repeated. */
const AGAIN_MS = 1_000;

export function createOpenStreams(clock: Pick<Clock, 'now'>, delay = afterDelay): OpenStreams {
  /** Each open stream with the function that cancels its next check. */
  const open = new Map<OpenStream, () => void>();
  const leave = (stream: OpenStream): boolean => {
    open.get(stream)?.();
    return open.delete(stream);
  };
  /** Checks the stream when its session or token is due to end; later uses of the session or token move that time. */
  const watch = (stream: OpenStream, endsAtMs: number | undefined): void => {
    open.get(stream)?.();
    const look = (): void => void check(stream);
    const waitMs = endsAtMs === undefined ? null : Math.max(AGAIN_MS, endsAtMs - clock.now());
    open.set(stream, waitMs === null ? () => undefined : delay(waitMs, look));
  };
  const check = async (stream: OpenStream): Promise<void> => {
    try {
      const caller = await stream.authorizeAgain();
      if (open.has(stream)) watch(stream, caller?.endsAtMs);
    } catch (error) {
      // Identity gave no answer: the stream stays open, just as cached answers stay valid.
      if (isAppError(error) && error.entry.retryable) {
        if (open.has(stream)) watch(stream, stream.endsAtMs);
      } else if (leave(stream)) stream.end();
    }
  };

  return {
    add(stream) {
      watch(stream, stream.endsAtMs);
      return () => void leave(stream);
    },
    async recheck(username) {
      const wanted = username.toLowerCase();
      const found = [...open.keys()].filter((one) => wanted === '' || one.username.toLowerCase() === wanted);
      const lanes = Array.from({ length: Math.min(AT_ONCE, found.length) }, async () => {
        for (let next = found.pop(); next; next = found.pop()) await check(next);
      });
      await Promise.all(lanes);
    },
  };
}
