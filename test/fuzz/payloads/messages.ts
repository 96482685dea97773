/** Payloads of messages: each message type at the broker, as anybody with publish rights can send them to RabbitMQ. */

import { publishersOf, serviceOfQueue, type Topology, topology } from '@baton/broker';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { letTimePass } from '@baton/testkit/let-time-pass';
import type { Fleet } from '../../harness/fleet';
import { envelopeOf, openRawBroker, type RawBroker } from '../../harness/raw-broker';
import { type Random, seededRandom } from '../../sim/random';
import { tell } from '../findings';
import { nonsenseText, payloadOf } from '../values';
import { type Line, reasonOf, watch } from './judge';

export type Entry = Topology[number];
const BIG = 10 * 1024 * 1024;
/** Time within which messages that are handled or parked immediately must be gone. */
const SETTLED_MS = 60_000;

export interface Poison {
  content: string | Buffer;
  /** The content is not a message of the type: it must be parked immediately. */
  isHopeless: boolean;
}

const SHAPES: readonly unknown[] = [
  ...[
    null,
    1,
    'x',
    true,
    [],
    {},
    [null],
    { id: 1 },
    { id: 'x' },
    { id: 'x', payload: null },
    { payload: {} },
  ],
  { id: 'x', type: 1, time: {}, tenant: [], key: null, payload: [] },
];

/** Returns contents that are not messages of the type: invalid JSON, JSON of other shapes. */
export const hopeless = ({ message }: Entry, random: Random, isJson: boolean): Poison[] => {
  const shapes = SHAPES.map((shape) => JSON.stringify(shape));
  // PostgreSQL refuses to store JSON with deeper nesting.
  const levels = isJson ? 2_000 : 50_000;
  const deep = `{"id":"x","payload":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  // Large messages for some types only: for all types, the run would mainly test the network.
  const big = random.chance(0.2) ? BIG : 1_000;
  const wrong = JSON.stringify(envelopeOf(message.type, { no: 'such field' }));
  const bytes = Buffer.from(Array.from({ length: 200 }, () => random.below(256)));
  const notJson = isJson ? [] : ['', '{', 'undefined', '{"id":"x"', bytes, Buffer.alloc(big, 120)];
  return [...shapes, deep, wrong, `"${'x'.repeat(big)}"`, ...notJson].map((content) => ({
    content,
    isHopeless: true,
  }));
};

/** Returns a message of the right shape with odd values. */
export function odd({ message }: Entry, random: Random): Poison {
  const payload = payloadOf(random, message.schema, 0);
  const envelope = { ...envelopeOf(message.type, payload), ...oddEnvelope(random) };
  return { content: JSON.stringify(envelope), isHopeless: !message.schema.safeParse(payload).success };
}

const oddEnvelope = (random: Random): object =>
  random.pick([
    {},
    {},
    { tenant: nonsenseText(random) },
    { time: nonsenseText(random) },
    { traceparent: nonsenseText(random), causationId: 7 },
    { tenant: undefined },
    { filling: 'x'.repeat(random.pick([10, 100, 1_000, BIG])) },
  ]);

const HEADERS: readonly Record<string, unknown>[] = [
  {},
  { 'x-baton-attempts': 'many' },
  { 'x-baton-attempts': -1_000_000 },
  { 'x-baton-attempts': 1e300 },
  { 'x-baton-attempts': { a: 1 }, 'x-baton-queue': 1 },
];

async function publishAll(raw: RawBroker, entry: Entry, poisons: Poison[], random: Random): Promise<void> {
  const { names, channel } = raw;
  const { type, delivery } = entry.message;
  const exchange = delivery === 'work' ? names.work(publishersOf(entry)[0]!) : names.fanout(type);
  for (const { content } of poisons) {
    const properties = random.chance(0.8) ? { messageId: newId(), type: entry.message.type } : {};
    channel.publish(exchange, entry.message.type, Buffer.from(content), {
      persistent: true,
      ...properties,
      headers: random.chance(0.8) ? {} : random.pick(HEADERS),
    });
  }
  await channel.waitForConfirms();
}

/** Returns the number of messages that all services have parked. */
async function parkedIn({ names, channel }: RawBroker): Promise<number> {
  const services = new Set(topology.flatMap(({ queues }) => queues.map(serviceOfQueue)));
  let count = 0;
  for (const service of services) count += (await channel.checkQueue(names.parked(service))).messageCount;
  return count;
}

/** Publishes to all types, and waits until no work queue holds any of these messages. */
export async function fuzzRabbit({
  fleet,
  seed,
  each,
}: {
  fleet: Fleet;
  seed: number;
  each: number;
}): Promise<void> {
  const watched = watch(fleet);
  const raw = await openRawBroker(fleet.namespace);
  const random = seededRandom(seed);
  let [parked, count] = [0, 0];
  try {
    for (const entry of topology) {
      const poisons = [
        ...hopeless(entry, random, false),
        ...Array.from({ length: each }, () => odd(entry, random)),
      ];
      await publishAll(raw, entry, poisons, random);
      count += poisons.length;
      parked += poisons.filter(({ isHopeless }) => isHopeless).length * entry.queues.length;
    }
    await untilSettled(raw);
    // A message that is being handled is in no queue for a moment.
    await eventually(async () => (await parkedIn(raw)) >= parked, { deadlineMs: 20_000 }).catch(
      () => undefined,
    );
    const messageCount = await parkedIn(raw);
    if (messageCount < parked)
      tell('not parked', 'rabbit', `${messageCount} are parked, ${parked} are no messages`);
    console.log(`messages: ${count} at ${topology.length} types, ${messageCount} parked`);
  } finally {
    await raw.close();
  }
  await watched.judge();
  judgeLines(watched.lines());
}

async function untilSettled({ channel, names }: RawBroker): Promise<void> {
  const queues = topology.flatMap(({ message, queues: all }) =>
    all.map((queue) => names.queue(message.type, queue)),
  );
  const waiting = async (): Promise<string[]> => {
    const counts = await Promise.all(queues.map((queue) => channel.checkQueue(queue)));
    return counts.filter(({ messageCount }) => messageCount > 0).map(({ queue }) => queue);
  };
  let left = await waiting();
  for (
    const until = Date.now() + SETTLED_MS;
    left.length > 0 && Date.now() < until;
    await letTimePass(100, 'between two looks')
  )
    left = await waiting();
  for (const queue of left) tell('messages wait', queue, `${queue} is not empty`);
}

/** Log lines that report the end of one message, or of a call caused by a message. */
const TOLD_ONCE = /^(message parked|subscriber failed|fanout message is not|rpc failed)/;

/**
 * Checks the logs: each parked message has one line. A redelivered message has a line with the reason; such messages are printed.
 */
export function judgeLines(lines: Map<string, Line[]>): void {
  const again = new Map<string, number>();
  for (const [service, all] of lines) {
    for (const line of all) {
      if (line.message === 'message failed, will be delivered again') {
        const kind = `${service} ${reasonOf(line)}`;
        again.set(kind, (again.get(kind) ?? 0) + 1);
      } else if (TOLD_ONCE.test(line.message ?? '')) continue;
      else if (line.level === 'error' || line.level === 'fatal')
        tell('fault', `${service} ${reasonOf(line).slice(0, 80)}`, JSON.stringify(line).slice(0, 1_500));
    }
  }
  for (const [kind, times] of again) console.log(`will be delivered again, ${times} times: ${kind}`);
}
