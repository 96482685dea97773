import { connect } from 'amqplib';
import pg from 'pg';
import { eventually, restartablePostgres, restartableRabbit, tcpProxy, testUrls } from './index';

test('a private PostgreSQL keeps what was committed when it is killed', async () => {
  const server = await restartablePostgres();
  try {
    const run = async (text: string): Promise<unknown[]> => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    };
    await run('create table kept as select 1 as x');
    await server.restart();
    expect(await run('select x from kept')).toEqual([{ x: 1 }]);
    await server.kill();
    await expect(run('select 1')).rejects.toThrow();
  } finally {
    await server.close();
  }
}, 60_000);

test('a private RabbitMQ keeps durable messages over a restart', async () => {
  const server = await restartableRabbit();
  try {
    const first = await connect(server.url);
    first.on('error', () => undefined);
    const channel = await first.createConfirmChannel();
    await channel.assertQueue('kept', { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    channel.sendToQueue('kept', Buffer.from('hello'), { persistent: true });
    await channel.waitForConfirms();
    await server.restart();
    const second = await connect(server.url);
    second.on('error', () => undefined);
    const reader = await second.createChannel();
    const found = await eventually(() => reader.get('kept', { noAck: true }));
    expect(found ? found.content.toString() : null).toBe('hello');
    await second.close();
  } finally {
    await server.close();
  }
}, 90_000);

test('the proxy passes, cuts, swallows answers and heals', async () => {
  const target = new URL(testUrls.postgres());
  const proxy = await tcpProxy({ host: target.hostname, port: Number(target.port) });
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: proxy.through(testUrls.postgres()),
      query_timeout: 300,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const first = await open();
  expect((await first.query('select 1 as x')).rows).toEqual([{ x: 1 }]);
  proxy.cut();
  await expect(first.query('select 1')).rejects.toThrow();
  const second = await open();
  proxy.dropAnswers();
  await expect(second.query('select 1')).rejects.toThrow('timeout');
  proxy.heal();
  const third = await open();
  expect((await third.query('select 2 as x')).rows).toEqual([{ x: 2 }]);
  await third.end();
  await proxy.close();
});
