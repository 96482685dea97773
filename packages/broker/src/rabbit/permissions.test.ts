import { topology } from '../topology';
import { rabbitNames } from './names';
import { rabbitPermissions } from './permissions';
import { planTopology } from './plan';

const names = rabbitNames('a.b');
const may = (service: string, what: 'configure' | 'write' | 'read', name: string): boolean => {
  const pattern = rabbitPermissions('a.b', topology, service)[what];
  // RabbitMQ treats an empty pattern as ^$.
  return new RegExp(pattern || '^$').test(name);
};

test('a worker reads wake-ups, may put them back, and hears of cancels', () => {
  const ready = names.queue('executions.task-ready.v1', 'worker');
  expect(may('worker', 'read', ready)).toBe(true);
  expect(may('worker', 'write', names.work('worker'))).toBe(true);
  expect(may('worker', 'read', names.fanout('executions.tasks-cancelled.v1'))).toBe(true);
  expect(may('worker', 'read', names.fanout('executions.events-appended.v2'))).toBe(false);
  expect(may('worker', 'write', names.work('executions'))).toBe(false);
  expect(may('worker', 'write', ready)).toBe(false);
  expect(may('worker', 'read', names.queue('audit.change-made.v1', 'cluster-status'))).toBe(false);
});

test('what a worker sends reaches task queues alone', () => {
  const plan = planTopology({ names, stepsMs: [10], expiry: {} }, topology);
  const from = plan.bindings.filter(({ source }) => source === names.work('worker'));
  expect(from.map(({ destination }) => destination).sort()).toEqual([
    names.queue('executions.first-task-ready.v1', 'worker'),
    names.queue('executions.task-ready.v1', 'worker'),
  ]);
});

test('a delayed or parked message comes back to queues of its own service alone', () => {
  const plan = planTopology({ names, stepsMs: [10], expiry: {} }, topology);
  const back = plan.bindings.filter(({ source }) => source.startsWith('a.b.q2.back.'));
  expect(back.length).toBeGreaterThan(10);
  const serviceOf = (name: string): string => name.split('.')[4]!;
  for (const { source, destination } of back) expect(serviceOf(destination)).toBe(serviceOf(source));
  for (const { arguments: args } of plan.queues) expect(args['x-dead-letter-exchange']).not.toBe('');
});

test('nobody makes anything but the queues of its replicas, and dots in names are dots', () => {
  expect(may('gateway', 'configure', names.replica('gateway', 'id'))).toBe(true);
  expect(may('gateway', 'configure', names.replica('worker', 'id'))).toBe(false);
  expect(may('gateway', 'configure', names.replica('gateway', 'id').replaceAll('.', 'x'))).toBe(false);
  expect(rabbitPermissions('a.b', topology, 'secrets')).toEqual({
    configure: '',
    write: '^(a\\.b\\.q2\\.work\\.secrets)$',
    read: '',
  });
});
