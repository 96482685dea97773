import { randomUUID } from 'node:crypto';
import type { Channel } from 'amqplib';
import type { Load } from '../load';
import { queueAt, workOfExecutions } from '../queues';
import type { Rig } from '../rig';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause } from '../until';

const QUEUES = [
  'executions.task-ready.v1.worker',
  'executions.execution-requested.v1.executions',
  'executions.execution-finished.v1.executions',
  'executions.execution-accepted.v1.deployments-latest-execution',
];
/** Fewer lost or copied messages prove nothing; the fault lasts longer until there are as many, at most `FLOOR_MS`. */
const LEAST_LOST = 5;
const LEAST_COPIES = 20;
const FLOOR_MS = 45_000;
/** POST /executions must never wait for the broker. */
const POST_MS = 5_000;

export const brokerRows: Row[] = [
  {
    id: 'F16',
    title: 'RabbitMQ is restarted',
    pass: 'the store is the truth: every execution ends, also those started meanwhile; nothing runs twice',
    limitS: 150,
    run: (at) =>
      underLoad(at, async (load) => {
        const { rig } = at;
        const asked = load.asked.length;
        await rig.rabbit.restart();
        await pause(3_000);
        return { facts: { 'asked meanwhile': load.asked.length - asked }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F16k',
    title: 'RabbitMQ dies (kill -9) and is away for 10 s',
    pass: 'POST /executions is answered within 5 s while it is away; every execution ends; nothing runs twice',
    limitS: 180,
    run: (at) => underLoad(at, (load) => brokerAway(at, load)),
  },
  {
    id: 'F16p',
    title: 'RabbitMQ loses messages: half of all wake-ups of workers and of the engine',
    pass: 'wake-ups are made again from the store: every execution ends; nothing runs twice',
    limitS: 180,
    run: (at) =>
      underLoad(at, async () => {
        const { rig, isSuite } = at;
        const lost = await rig.withChannel((channel) =>
          swallow(channel, rig.fleet.namespace, isSuite ? 8_000 : 20_000),
        );
        return {
          facts: { lost },
          violations: lost < LEAST_LOST ? [`floor: only ${lost} messages were lost`] : [],
          judge: { victims: [] },
        };
      }),
  },
  {
    id: 'F16a',
    title: 'RabbitMQ raises its memory alarm for 10 s: publishers are blocked',
    pass: 'POST /executions is answered within 5 s meanwhile; every execution ends; nothing runs twice',
    limitS: 180,
    run: (at) => underLoad(at, (load) => alarm(at, load)),
  },
  {
    id: 'F17',
    title: 'every message comes twice more, up to 10 s late and out of order',
    pass: 'nothing runs twice; every execution ends; events have no gap',
    limitS: 150,
    run: (at) =>
      underLoad(at, async () => {
        const copies = await at.rig.withChannel((channel) => copyAll(at, channel));
        return {
          facts: { copies },
          violations: copies < LEAST_COPIES ? [`floor: only ${copies} copies were sent`] : [],
          judge: { victims: [] },
        };
      }),
  },
];

async function brokerAway({ rig }: RowContext, load: Load): Promise<Struck> {
  await rig.rabbit.kill();
  const ms = await startMeanwhile(rig, load);
  await pause(10_000);
  await rig.rabbit.start();
  return postVerdict(ms);
}

async function alarm({ rig }: RowContext, load: Load): Promise<Struck> {
  await rig.rabbit.control(['set_vm_memory_high_watermark', '0.0000001']);
  try {
    const ms = await startMeanwhile(rig, load);
    await pause(10_000);
    return postVerdict(ms);
  } finally {
    await rig.rabbit.control(['set_vm_memory_high_watermark', '0.4']);
  }
}

/**
 * Starts an execution on its own deployment and returns the duration of the request in ms. The judge checks it together with the
 * others.
 */
async function startMeanwhile(rig: Rig, load: Load): Promise<number> {
  const [deployment] = await rig.deployments(`away-${randomUUID().slice(0, 8)}`, 1);
  const since = performance.now();
  await load.add(deployment!, 'install');
  return performance.now() - since;
}

const postVerdict = (ms: number): Struck => ({
  facts: { 'POST answered': `${Math.round(ms)} ms` },
  violations: ms > POST_MS ? [`F16: POST was answered after ${Math.round(ms)} ms, allowed ${POST_MS}`] : [],
  judge: { victims: [] },
});

/** A competing consumer that acknowledges messages without processing them. Returns the number of swallowed messages. */
async function swallow(channel: Channel, namespace: string, forMs: number): Promise<number> {
  let count = 0;
  await channel.prefetch(50);
  for (const queue of QUEUES.slice(0, 2)) {
    await channel.consume(queueAt(namespace, queue), (message) => {
      if (!message) return;
      count++;
      channel.ack(message);
    });
  }
  await pause(forMs);
  await untilFloor(() => count >= LEAST_LOST);
  return count;
}

/** Lets the fault last until it has struck often enough. Afterwards the row judges the count, also when the time ran out. */
async function untilFloor(isReached: () => boolean): Promise<void> {
  const end = performance.now() + FLOOR_MS;
  while (!isReached() && performance.now() < end) await pause(100);
}

/** Sends two copies of every message, each at a random time within 10 s. Returns the number of copies. */
async function copyAll({ rig, random, isSuite }: RowContext, channel: Channel): Promise<number> {
  const { namespace } = rig.fleet;
  const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true });
  for (const name of QUEUES)
    await channel.bindQueue(queue, workOfExecutions(namespace), name.replace(/\.[^.]+$/, ''));
  let count = 0;
  let isOpen = true;
  await channel.consume(
    queue,
    (message) => {
      if (!message) return;
      const target = QUEUES.find((name) => name.startsWith(`${message.fields.routingKey}.`))!;
      for (let copy = 0; copy < 2; copy++) {
        setTimeout(() => {
          if (!isOpen) return;
          count++;
          channel.sendToQueue(queueAt(namespace, target), message.content, message.properties);
        }, random.below(10_000));
      }
    },
    { noAck: true },
  );
  await pause(isSuite ? 13_000 : 25_000);
  await untilFloor(() => count >= LEAST_COPIES);
  isOpen = false;
  return count;
}
