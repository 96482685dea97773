import { defineMessage, type Envelope, type MessageType } from '@baton/contracts';
import { AppError, isAppError, isoInstant, newId, systemClock } from '@baton/kernel';
import { eventually, testSignals } from '@baton/testkit';
import { type ZodType, z } from 'zod';
import { type Broker, MAX_DELIVERIES, type Topology } from './index';

const note = z.object({ n: z.number() });
type Note = z.infer<typeof note>;
const work = defineMessage('sample.work-arrived.v1', 'work', note);
const fan = defineMessage('sample.all-told.v1', 'fanout', z.object({ text: z.string() }));

/** The topology of the suite: `work` goes to two consumers, neither of which has ever started. */
export const sampleTopology: Topology = [
  { message: work, queues: ['first', 'second'] },
  { message: fan, queues: [], subscribers: ['sample'] },
];
/** Delays short enough to reach the cap in a test. */
export const sampleStepsMs: readonly number[] = [10, 20, 40];

/** A server of one test run, and brokers on it as separate processes would have them. */
export interface BrokerUnderTest {
  connect(): Broker;
  /** Stops and starts the server. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const envelope = <T>(type: MessageType<T>, payload: T): Envelope<T> => ({
  id: newId(),
  type: type.type,
  time: isoInstant(systemClock.now()),
  tenant: 't',
  key: 'k',
  payload,
});

/** The contract of both adapters (port.ts). */
export function describeBroker(name: string, open: () => Promise<BrokerUnderTest>): void {
  describe(name, () => {
    let server: BrokerUnderTest;
    let broker: Broker;
    const others: Broker[] = [];
    const another = (): Broker => {
      const made = server.connect();
      others.push(made);
      return made;
    };

    beforeAll(async () => {
      server = await open();
    }, 90_000);
    beforeEach(async () => {
      broker = another();
      await eventually(() => broker.ping(), { deadlineMs: 20_000 });
    }, 30_000);
    afterEach(async () => {
      // Messages left in the queues must not reach the next test.
      await Promise.all(others.splice(0).map((one) => one.close()));
      const cleaner = server.connect();
      await drain(cleaner);
      await cleaner.close();
    }, 30_000);
    afterAll(async () => {
      await server.close();
    }, 30_000);

    const collect = async (queue: string, from: Broker = broker): Promise<Note[]> => {
      const got: Note[] = [];
      await from.consume(work, { queue, prefetch: 10, handler: async (e) => void got.push(e.payload) });
      return got;
    };

    test('keeps messages for every queue of the topology although no consumer has ever started', async () => {
      await broker.publish([envelope(work, { n: 1 }), envelope(work, { n: 2 })]);
      const late = another();
      const [first, second] = [await collect('first', late), await collect('second', late)];
      await eventually(() => expect([first.length, second.length]).toEqual([2, 2]));
      expect(new Set(first.map(({ n }) => n))).toEqual(new Set([1, 2]));
    });

    test('hands the whole envelope to one of the competing consumers, not more at once than its prefetch', async () => {
      const seen: string[] = [];
      let running = 0;
      let most = 0;
      const signals = testSignals();
      signals.of('handling').hold();
      const handler = async (e: Envelope<Note>): Promise<void> => {
        most = Math.max(most, ++running);
        await signals.of('handling').reached();
        running--;
        seen.push(JSON.stringify(e));
      };
      await broker.consume(work, { queue: 'first', prefetch: 3, handler });
      const sent = Array.from({ length: 20 }, (_, n) => envelope(work, { n }));
      await broker.publish(sent);
      for (let i = 0; i < 3; i++) await signals.of('handling').wait();
      expect(running).toBe(3);
      await another().consume(work, {
        queue: 'first',
        prefetch: 1,
        handler: async (e) => void seen.push(JSON.stringify(e)),
      });
      signals.of('handling').release();
      await eventually(() => expect(seen.length).toBe(20));
      expect(new Set(seen)).toEqual(new Set(sent.map((e) => JSON.stringify(e))));
      expect(most).toBe(3);
    });

    test('delivers again after a failure, later each time, and parks at the cap with the reason', async () => {
      const at: number[] = [];
      const handler = async (): Promise<void> => {
        at.push(systemClock.monotonic());
        throw new Error('still broken');
      };
      await broker.consume(work, { queue: 'first', prefetch: 5, handler });
      const sent = envelope(work, { n: 1 });
      await broker.publish([sent]);
      const [parked] = await eventually(
        async () => {
          const all = await broker.listParked('first');
          expect(all).toHaveLength(1);
          return all;
        },
        { deadlineMs: 20_000 },
      );
      expect(at).toHaveLength(MAX_DELIVERIES);
      expect((at[3] as number) - (at[2] as number)).toBeGreaterThanOrEqual((sampleStepsMs[2] as number) - 2);
      expect(parked).toMatchObject({
        type: work.type,
        queue: 'first',
        attempts: MAX_DELIVERIES,
        envelope: sent,
      });
      expect(parked?.reason).toContain('still broken');
      expect(await broker.listParked('second')).toEqual([]);
    }, 30_000);

    test('a message succeeds on a later delivery without reaching the other queue twice', async () => {
      let tries = 0;
      const second = await collect('second');
      const done = testSignals().of('done');
      const handler = async (): Promise<void> => {
        if (++tries < 3) throw new AppError('service_unavailable_error', 'not yet');
        await done.reached();
      };
      await broker.consume(work, { queue: 'first', prefetch: 1, handler });
      await broker.publish([envelope(work, { n: 1 })]);
      await done.wait();
      expect(tries).toBe(3);
      await eventually(() => expect(second).toHaveLength(1));
      expect(await broker.listParked()).toEqual([]);
    });

    test('what is handed over reaches each queue once, handled here or elsewhere or later', async () => {
      const first = await collect('first');
      await broker.handOver([envelope(work, { n: 1 }), envelope(work, { n: 2 })]);
      await eventually(() => expect(first.map(({ n }) => n).sort()).toEqual([1, 2]));
      const second = await collect('second', another());
      await eventually(() => expect(second.map(({ n }) => n).sort()).toEqual([1, 2]));
      expect(first).toHaveLength(2);
    });

    test('what is handed over to a handler that fails comes again, and is parked at the cap', async () => {
      let tries = 0;
      const handler = async (): Promise<void> => {
        tries++;
        throw new Error('still broken');
      };
      await broker.consume(work, { queue: 'first', prefetch: 1, handler });
      const sent = envelope(work, { n: 1 });
      await broker.handOver([sent]);
      await eventually(
        async () => expect(await broker.listParked('first')).toMatchObject([{ envelope: sent }]),
        {
          deadlineMs: 20_000,
        },
      );
      expect(tries).toBeGreaterThanOrEqual(MAX_DELIVERIES);
    }, 30_000);

    test('what is handed over beyond the prefetch waits, and no handler is kept from it', async () => {
      const signals = testSignals();
      signals.of('handling').hold();
      let running = 0;
      let most = 0;
      const seen: number[] = [];
      const handler = async (e: Envelope<Note>): Promise<void> => {
        most = Math.max(most, ++running);
        await signals.of('handling').reached();
        running--;
        seen.push(e.payload.n);
      };
      await broker.consume(work, { queue: 'first', prefetch: 2, handler });
      const numbers = [1, 2, 3, 4, 5, 6];
      const handed = numbers.map((n) => broker.handOver([envelope(work, { n })]));
      for (let i = 0; i < 2; i++) await signals.of('handling').wait();
      signals.of('handling').release();
      await Promise.all(handed);
      await eventually(() => expect([...seen].sort()).toEqual(numbers));
      expect(most).toBe(2);
    });

    test('parks at once what can never succeed; replay gives it a fresh start', async () => {
      let isFixed = false;
      const seen: number[] = [];
      const handler = async (e: Envelope<Note>): Promise<void> => {
        seen.push(e.payload.n);
        if (!isFixed) throw new AppError('not_found_error', 'no such thing');
      };
      await broker.consume(work, { queue: 'first', prefetch: 1, handler });
      await broker.publish([envelope(work, { n: 7 })]);
      const parked = await eventually(async () => {
        const [one] = await broker.listParked();
        if (!one) throw new Error('nothing parked');
        return one;
      });
      expect(parked.reason).toContain('no such thing');
      expect(seen).toEqual([7]);
      isFixed = true;
      await broker.replayParked(parked.id);
      await eventually(() => expect(seen).toEqual([7, 7]));
      expect(await broker.listParked()).toEqual([]);
      const error = await broker.replayParked(parked.id).catch((e) => e);
      expect(isAppError(error, 'not_found_error')).toBe(true);
    });

    test('refuses to publish what does not fit its schema or has no type, and sends nothing of that batch', async () => {
      const got = await collect('first');
      const wrong = { ...envelope(work, { n: 1 }), payload: { n: 'one' } } as unknown as Envelope;
      const unknown = { ...envelope(work, { n: 1 }), type: 'sample.unheard.v1' };
      for (const bad of [wrong, unknown]) {
        const error = await broker.publish([envelope(work, { n: 5 }), bad]).catch((e) => e);
        expect(isAppError(error, 'internal_server_error')).toBe(true);
      }
      await broker.publish([envelope(work, { n: 9 })]);
      await eventually(() => expect(got).toEqual([{ n: 9 }]));
    });

    test('parks a delivery that the consumer cannot read, and passes unknown fields of newer publishers', async () => {
      const strict: MessageType<{ n: string }> = {
        ...work,
        schema: z.object({ n: z.string() }) as ZodType<{ n: string }>,
      };
      const got: unknown[] = [];
      await broker.consume(strict, { queue: 'first', prefetch: 1, handler: async (e) => void got.push(e) });
      await collect('second').then(async (second) => {
        await broker.publish([envelope(work, { n: 1, addedLater: true } as Note)]);
        await eventually(() => expect(second).toHaveLength(1));
      });
      await eventually(async () => expect(await broker.listParked('first')).toHaveLength(1));
      expect(got).toEqual([]);
    });

    test('fanout reaches every subscriber of every process once, whatever its size', async () => {
      const far = another();
      const got: string[][] = [[], [], []];
      const [a, b, c] = got as [string[], string[], string[]];
      await broker.subscribe(fan, (e) => void a.push(e.payload.text));
      await broker.subscribe(fan, () => {
        throw new Error('a subscriber that fails disturbs nobody');
      });
      await broker.subscribe(fan, (e) => void b.push(e.payload.text));
      const last = await far.subscribe(fan, (e) => void c.push(e.payload.text));
      const big = 'ü"\\'.repeat(10_000);
      await broker.publish([envelope(fan, { text: 'one' }), envelope(fan, { text: big })]);
      await eventually(() => expect(got.map((list) => list.length)).toEqual([2, 2, 2]));
      expect(got).toEqual([
        ['one', big],
        ['one', big],
        ['one', big],
      ]);
      await last.close();
      await broker.publish([envelope(fan, { text: 'three' })]);
      await eventually(() => expect(b).toHaveLength(3));
      expect(c).toHaveLength(2);
    });

    test('closing a subscription waits for the handler at work, and what it had not begun goes to others', async () => {
      const signals = testSignals();
      signals.of('at work').hold();
      const mine: number[] = [];
      const subscription = await broker.consume(work, {
        queue: 'first',
        prefetch: 1,
        handler: async (e) => {
          await signals.of('at work').reached();
          mine.push(e.payload.n);
        },
      });
      await broker.publish([1, 2, 3].map((n) => envelope(work, { n })));
      await signals.of('at work').wait();
      const closed = subscription.close();
      signals.of('at work').release();
      await closed;
      expect(mine).toHaveLength(1);
      const rest = await collect('first', another());
      await eventually(() => expect([...mine, ...rest.map(({ n }) => n)].sort()).toEqual([1, 2, 3]));
    });

    test('survives a restart of the server: nothing confirmed is lost, consumers and subscribers come back', async () => {
      await broker.publish([envelope(work, { n: 1 })]);
      const signals = testSignals();
      const done: number[] = [];
      let isFirst = true;
      const handler = async (e: Envelope<Note>, signal: AbortSignal): Promise<void> => {
        if (isFirst) {
          isFirst = false;
          await signals.of('interrupted').reached();
          await new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          );
          throw new Error('aborted');
        }
        done.push(e.payload.n);
      };
      await broker.consume(work, { queue: 'first', prefetch: 1, handler });
      const told: string[] = [];
      let gaps = 0;
      await broker.subscribe(
        fan,
        (e) => void told.push(e.payload.text),
        () => void gaps++,
      );
      await signals.of('interrupted').wait();
      expect(gaps).toBe(0);
      const restarted = server.restart();
      const published = (async () => {
        await restarted;
        // Waits for the connection rather than failing.
        await broker.publish([envelope(work, { n: 2 })]);
      })();
      await published;
      await eventually(() => expect(new Set(done)).toEqual(new Set([1, 2])), { deadlineMs: 20_000 });
      await eventually(
        async () => {
          await broker.publish([envelope(fan, { text: 'back' })]);
          expect(told.length).toBeGreaterThan(0);
        },
        { deadlineMs: 20_000 },
      );
      expect(gaps).toBeGreaterThan(0);
    }, 90_000);

    test('refuses to publish inside a database transaction', async () => {
      const { AsyncLocalStorage } = await import('node:async_hooks');
      const slot = globalThis as { [key: symbol]: unknown };
      const key = Symbol.for('baton.tx');
      const before = slot[key];
      const storage = new AsyncLocalStorage<{ isOpen: boolean }>();
      slot[key] = storage;
      try {
        const publish = (): Promise<void> => (async () => broker.publish([envelope(work, { n: 1 })]))();
        await expect(storage.run({ isOpen: true }, publish)).rejects.toThrow('outbox');
      } finally {
        slot[key] = before;
      }
    });
  });
}

/** Consumes all messages left in the queues of the suite. */
async function drain(broker: Broker): Promise<void> {
  for (const parked of await broker.listParked()) await broker.replayParked(parked.id);
  let last = systemClock.monotonic();
  const touch = async (): Promise<void> => {
    last = systemClock.monotonic();
  };
  for (const queue of ['first', 'second'])
    await broker.consume(work, { queue, prefetch: 50, handler: touch });
  await eventually(() => systemClock.monotonic() - last > 150, { deadlineMs: 10_000 });
}
