import { AppError } from '@baton/kernel';
import { createOpenStreams, type OpenStream } from './open-streams';

let nowMs = 0;
const clock = { now: () => nowMs };

function streamOf(username: string, refusal: AppError | null = null) {
  const seen = { asked: 0, ended: 0 };
  const stream: OpenStream = {
    username,
    authorizeAgain: () => {
      seen.asked += 1;
      if (refusal) throw refusal;
      return null;
    },
    end: () => {
      seen.ended += 1;
    },
  };
  return { stream, seen };
}
const refused = new AppError('unauthorized_error', 'The session is over');
const away = new AppError('service_unavailable_error', 'Service identity does not answer');

test('of the user whose credentials changed those end that are refused now, and nobody else is asked', async () => {
  const streams = createOpenStreams(clock);
  const [bad, good, unknown, other] = [
    streamOf('Bob', refused),
    streamOf('bob'),
    streamOf('bob', away),
    streamOf('carol', refused),
  ];
  for (const { stream } of [bad, good, unknown, other]) streams.add(stream);
  await streams.recheck('bob');
  expect([bad, good, unknown, other].map(({ seen }) => seen)).toEqual([
    { asked: 1, ended: 1 },
    { asked: 1, ended: 0 },
    { asked: 1, ended: 0 },
    { asked: 0, ended: 0 },
  ]);
  // The stream has left the list and is not ended twice.
  await streams.recheck('bob');
  expect(bad.seen).toEqual({ asked: 1, ended: 1 });
});

test('a change of roles asks about everybody, sixteen at once; who has left is not asked', async () => {
  const streams = createOpenStreams(clock);
  let [now, most] = [0, 0];
  const all = Array.from({ length: 40 }, (_, i) => ({
    username: `u${i}`,
    authorizeAgain: async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now -= 1;
      return null;
    },
    end: () => undefined,
  }));
  const leaves = all.map((stream) => streams.add(stream));
  const gone = streamOf('gone', refused);
  streams.add(gone.stream)();
  await streams.recheck('');
  expect([most, gone.seen.asked]).toEqual([16, 0]);
  for (const leave of leaves) leave();
});

describe('a session or token with an end', () => {
  /** Waiting timers and the time at which each one runs. */
  let timers: Map<() => void, number>;
  const delay = (ms: number, run: () => void): (() => void) => {
    timers.set(run, nowMs + ms);
    return () => void timers.delete(run);
  };
  const passTo = async (ms: number): Promise<void> => {
    nowMs = ms;
    for (const [run, at] of [...timers]) if (at <= ms && timers.delete(run)) run();
    await new Promise(setImmediate);
  };
  beforeEach(() => {
    nowMs = 0;
    timers = new Map();
  });
  const ending = (endsAtMs: number, answers: (() => { endsAtMs?: number } | null)[]) => {
    const seen = { asked: 0, ended: 0 };
    const stream: OpenStream = {
      username: 'bob',
      endsAtMs,
      authorizeAgain: () => answers[seen.asked++]!(),
      end: () => {
        seen.ended += 1;
      },
    };
    return { stream, seen };
  };
  const refuse = () => {
    throw refused;
  };

  test('is asked about when that has come: it was used meanwhile, and then it was not', async () => {
    const { stream, seen } = ending(60_000, [() => ({ endsAtMs: 90_000 }), refuse]);
    createOpenStreams(clock, delay).add(stream);
    await passTo(59_999);
    expect(seen).toEqual({ asked: 0, ended: 0 });
    await passTo(60_000);
    expect(seen).toEqual({ asked: 1, ended: 0 });
    await passTo(90_000);
    expect([seen, timers.size]).toEqual([{ asked: 2, ended: 1 }, 0]);
  });

  test('is asked about again when nobody could say', async () => {
    const unknown = () => {
      throw away;
    };
    const { stream, seen } = ending(60_000, [unknown, refuse]);
    createOpenStreams(clock, delay).add(stream);
    await passTo(60_000);
    expect(seen).toEqual({ asked: 1, ended: 0 });
    await passTo(61_000);
    expect(seen).toEqual({ asked: 2, ended: 1 });
  });

  test('is asked about by nobody after the client has left', async () => {
    const { stream, seen } = ending(60_000, [refuse]);
    createOpenStreams(clock, delay).add(stream)();
    await passTo(60_000);
    expect([seen, timers.size]).toEqual([{ asked: 0, ended: 0 }, 0]);
  });
});
