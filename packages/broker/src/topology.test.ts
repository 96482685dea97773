import * as contracts from '@baton/contracts';
import { topology } from './topology';

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
