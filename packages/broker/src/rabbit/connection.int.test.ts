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
