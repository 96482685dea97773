import * as contracts from '@baton/contracts';
import { publishersOf, serviceOfQueue, topology } from './topology';

test('every message of the contracts is in the topology once, fanout ones without queues', () => {
  const isMessage = (value: unknown): value is contracts.MessageType<unknown> =>
    typeof value === 'object' && value !== null && 'delivery' in value && 'schema' in value;
  const types = (Object.values(contracts) as unknown[]).filter(isMessage).map((message) => message.type);
  expect(types.length).toBeGreaterThan(0);
  expect(topology.map((entry) => entry.message.type).sort()).toEqual(types.sort());
  const fanoutQueues = topology
    .filter((entry) => entry.message.delivery === 'fanout')
    .flatMap((entry) => entry.queues);
  expect(fanoutQueues).toEqual([]);
});

test('publishers, subscribers and queues are those of services, and each message says what of it is believed', () => {
  const services = [...contracts.managerServices, 'worker'];
  for (const entry of topology) {
    const named = [...publishersOf(entry), ...(entry.subscribers ?? []), ...entry.queues.map(serviceOfQueue)];
    expect(named.filter((name) => !(services as string[]).includes(name))).toEqual([]);
    expect([entry.message.type, entry.why ?? '']).not.toContain('');
    expect([entry.message.delivery, entry.subscribers ?? []]).not.toEqual([
      'work',
      expect.arrayContaining([expect.anything()]),
    ]);
  }
});

test('workers, which have no identity, neither send nor get what is believed', () => {
  for (const entry of topology.filter(({ seal }) => seal)) {
    expect(publishersOf(entry)).not.toContain('worker');
    expect([...(entry.subscribers ?? []), ...entry.queues.map(serviceOfQueue)]).not.toContain('worker');
  }
});
