import { once } from 'node:events';
import { silentLog } from '@baton/kernel';
import { testUrls } from '@baton/testkit';
import type { ChannelModel } from 'amqplib';
import { createLastingConnection } from './connection';

test('closing ends a connection that is still being set up', async () => {
  const lasting = createLastingConnection({ url: testUrls.amqp(), name: 'closed early', log: silentLog });
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const begun = new Promise<ChannelModel>((resolve) => {
    void lasting.keep(async (connection) => {
      resolve(connection);
      await finished;
    });
  });
  const gone = once(await begun, 'close');
  await lasting.close();
  finish();
  await gone;
});

test('a set-up that is never answered is given up with its connection, and done on the next one', async () => {
  const url = testUrls.amqp();
  const lasting = createLastingConnection({ url, name: 'unanswered', log: silentLog, setUpMs: 200 });
  const used: ChannelModel[] = [];
  await lasting.keep((connection) => {
    used.push(connection);
    return used.length === 1 ? new Promise(() => undefined) : Promise.resolve();
  });
  expect(used).toHaveLength(2);
  expect(used[0]).not.toBe(used[1]);
  await lasting.ready(0);
  await lasting.close();
});
