import { badParameter } from '@baton/kernel';

/** The position at which a stream of events begins. */
export type StreamStart =
  /** After this sequence number; 0: with the first event. */
  | { kind: 'after'; seq: number }
  /** With the last `count` events that pass the filters. */
  | { kind: 'tail'; count: number };

/** The most events of a tail; earlier events are read through the list. */
const MAX_TAIL = 10_000;

const TAIL = /^tail:(\d{1,6})$/;

/**
 * Returns the start of a stream. `Last-Event-ID` has precedence, so that a reconnect continues whatever `from` says. Without it,
 * `from` counts; its default is `start`.
 * @throws AppError bad_parameters_error naming header or parameter.
 */
export function streamStart(
  lastEventId: string | string[] | undefined,
  from: string | undefined,
): StreamStart {
  if (lastEventId !== undefined && lastEventId !== '') return { kind: 'after', seq: seqOf(lastEventId) };
  if (from === undefined || from === 'start') return { kind: 'after', seq: 0 };
  const count = Number(TAIL.exec(from)?.[1] ?? -1);
  if (count < 0 || count > MAX_TAIL) {
    throw badParameter('from', `from: "${from}" is no place to begin at`, {
      expected: `start, or tail:<N> with N from 0 to ${MAX_TAIL}`,
    });
  }
  return { kind: 'tail', count };
}

function seqOf(header: string | string[]): number {
  const seq = Number(header);
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw badParameter('Last-Event-ID', `Last-Event-ID: "${String(header)}" is no event id`, {
      expected: 'the id of an event of this stream',
    });
  }
  return seq;
}
