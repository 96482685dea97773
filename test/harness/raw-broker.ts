/** Returns an envelope for messages that the manager itself would not send. */

import { rabbitNames } from '@baton/broker';
import { isoInstant, newId, systemClock } from '@baton/kernel';
import { testUrls } from '@baton/testkit';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';

export const envelopeOf = (type: string, payload: unknown, tenant = 'default_tenant') => ({
  id: newId(),
  type,
  time: isoInstant(systemClock.now()),
  tenant,
  key: 'k',
  payload,
});

export interface RawBroker {
  names: ReturnType<typeof rabbitNames>;
  channel: ConfirmChannel;
  close(): Promise<void>;
}

/** Connects to RabbitMQ with the names of one manager. */
export async function openRawBroker(namespace: string): Promise<RawBroker> {
  const connection: ChannelModel = await connect(testUrls.amqp());
  const channel = await connection.createConfirmChannel();
  return { names: rabbitNames(namespace), channel, close: () => connection.close() };
}

/** Publishes one work message in a well-formed envelope, as `publisher` would, and waits for the confirm. */
export async function publishRaw(
  namespace: string,
  type: string,
  payload: unknown,
  publisher = type.slice(0, type.indexOf('.')),
): Promise<void> {
  const { names, channel, close } = await openRawBroker(namespace);
  try {
    const content = Buffer.from(JSON.stringify(envelopeOf(type, payload)));
    channel.publish(names.work(publisher), type, content, {
      persistent: true,
      messageId: newId(),
      type,
    });
    await channel.waitForConfirms();
  } finally {
    await close();
  }
}
