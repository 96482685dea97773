import type { Channel } from 'amqplib';
import { call } from '../../harness/session';
import { type Row, underLoad } from '../row';
import { pause, until } from '../until';

/** A competing consumer that acknowledges and does nothing; answers how many messages it swallowed. */
async function swallow(channel: Channel, namespace: string, forMs: number): Promise<number> {
  let count = 0;
  await channel.prefetch(50);
  const queues = ['executions.task-ready.v1.worker', 'executions.execution-requested.v1.executions'];
  for (const queue of queues) {
    await channel.consume(`${namespace}.q1.${queue}`, (message) => {
      if (!message) return;
      count++;
      channel.ack(message);
    });
  }
  await pause(forMs);
  return count;
}

/** Times a fault strikes in a short and in a long run. */
const times = (isSuite: boolean): number => (isSuite ? 2 : 8);

export const serverRows: Row[] = [
  {
    id: 'F9',
    title: 'PostgreSQL is restarted (immediate) again and again',
    isInSuite: true,
    pass: 'every accepted execution ends as it should; nothing is done twice after it was accepted',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        for (let i = 0; i < times(isSuite); i++) {
          await rig.postgres.kill();
          await pause(random.below(2_000));
          await rig.postgres.start();
          await pause(3_000 + random.below(3_000));
        }
        return { facts: { restarts: times(isSuite) }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F10',
    title: 'PostgreSQL does it and the answer is lost (also of COMMIT)',
    isInSuite: true,
    pass: 'no double effect; clients and services converge',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        const rounds = times(isSuite) * 4;
        for (let i = 0; i < rounds; i++) {
          rig.postgresProxy.dropAnswers();
          await pause(20 + random.below(150));
          rig.postgresProxy.heal();
          await pause(500 + random.below(500));
        }
        return { facts: { rounds }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F12',
    title: 'half-open partition of PostgreSQL: nothing arrives, nothing is closed',
    isInSuite: false,
    pass: 'the API answers 503 within 20 s instead of hanging; heals alone',
    run: (at) =>
      underLoad(at, async () => {
        const { rig } = at;
        rig.postgresProxy.blackhole();
        const since = performance.now();
        const seen = await until('an answer of the API', 60_000, async () => {
          try {
            await call(rig.client, 'listExecutions', {}, undefined, { _size: 1 });
            return null;
          } catch (error) {
            return String((error as { status?: number }).status ?? (error as Error).message);
          }
        });
        const ms = performance.now() - since;
        await pause(Math.max(0, 45_000 - ms));
        rig.postgresProxy.heal();
        return {
          facts: { answered: `${seen} after ${(ms / 1000).toFixed(1)} s` },
          violations: [
            ...(ms > 20_000 ? [`F12: the API answered after ${(ms / 1000).toFixed(1)} s, allowed 20 s`] : []),
            ...(seen === '503' ? [] : [`F12: the API answered ${seen}, expected 503`]),
          ],
        };
      }),
  },
  {
    id: 'F16',
    title: 'RabbitMQ is restarted',
    isInSuite: true,
    pass: 'the store is the truth: every execution ends, also those started meanwhile',
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
    isInSuite: false,
    pass: 'POST /executions is answered while it is away; every execution ends',
    run: (at) =>
      underLoad(at, async () => {
        const { rig } = at;
        const [deployment] = await rig.deployments('away', 1);
        await rig.rabbit.kill();
        const since = performance.now();
        const { id } = await call(
          rig.client,
          'startExecution',
          {},
          { deployment_id: deployment, workflow_id: 'install' },
        );
        const ms = performance.now() - since;
        await pause(10_000);
        await rig.rabbit.start();
        await until('the end of what was started meanwhile', 90_000, async () => {
          const { status } = await call(rig.client, 'getExecution', { executionId: id });
          return status === 'terminated';
        });
        return {
          facts: { 'POST answered': `${Math.round(ms)} ms` },
          violations: ms > 5_000 ? [`F16: POST was answered after ${Math.round(ms)} ms, allowed 5000`] : [],
        };
      }),
  },
  {
    id: 'F16p',
    title: 'RabbitMQ loses messages: half of all wake-ups of workers and of the engine',
    isInSuite: true,
    pass: 'wake-ups are made again from the store; every execution ends',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, isSuite } = at;
        const lost = await rig.withChannel((channel) =>
          swallow(channel, rig.fleet.namespace, isSuite ? 8_000 : 30_000),
        );
        return { facts: { lost }, violations: lost < 5 ? [`floor: only ${lost} messages were lost`] : [] };
      }),
  },
  {
    id: 'F17',
    title: 'every message comes twice more, up to 10 s late and out of order',
    isInSuite: false,
    pass: 'nothing is done twice; every execution ends',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        const copies = await rig.withChannel(async (channel) => {
          const { namespace } = rig.fleet;
          const queues = [
            'executions.task-ready.v1.worker',
            'executions.execution-requested.v1.executions',
            'executions.execution-finished.v1.executions',
          ];
          const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true });
          for (const name of queues)
            await channel.bindQueue(queue, `${namespace}.work`, name.replace(/\.[^.]+$/, ''));
          let count = 0;
          let isOpen = true;
          await channel.consume(
            queue,
            (message) => {
              if (!message) return;
              const target = queues.find((name) => name.startsWith(`${message.fields.routingKey}.`))!;
              for (let copy = 0; copy < 2; copy++) {
                setTimeout(() => {
                  if (!isOpen) return;
                  count++;
                  channel.sendToQueue(`${namespace}.q1.${target}`, message.content, message.properties);
                }, random.below(10_000));
              }
            },
            { noAck: true },
          );
          await pause(isSuite ? 15_000 : 30_000);
          isOpen = false;
          return count;
        });
        return {
          facts: { copies },
          violations: copies < 20 ? [`floor: only ${copies} copies were sent`] : [],
        };
      }),
  },
];
