import { healthOf, nodeRows, serviceRows } from './health-rows';

const process = (more: object) => ({ Id: 'p1', state: 'up', ...more });
const service = (status: string, instances: object[], info: object = {}) => ({
  status,
  is_remote: false,
  extra_info: { systemd: { instances }, ...info },
});

test.each([
  ['OK', 'well'],
  ['Active', 'well'],
  ['Degraded', 'degraded'],
  ['Fail', 'failing'],
  ['Inactive', 'failing'],
])('%s is %s', (status, health) => expect(healthOf(status)).toBe(health));

test('what fails stands first, with its problem', () => {
  const rows = serviceRows({
    Webserver: service('Active', [process({})]),
    Worker: service('Inactive', [process({ state: 'down', problem: 'no place' })]),
  });
  expect(rows.map(({ name, problem }) => [name, problem])).toEqual([
    ['Worker', 'no place'],
    ['Webserver', null],
  ]);
  expect(rows[0]!.processes).toEqual([{ id: 'p1', isUp: false }]);
});

test('a broker that nobody reaches says so; one that is well says nothing', () => {
  const broker = (check: string) =>
    serviceRows({ RabbitMQ: service('Active', [], { connection_check: check }) })[0]!.problem;
  expect([broker('refused'), broker('OK')]).toEqual(['refused', null]);
});

test('isolation is that of the first process that says it', () =>
  expect(
    serviceRows({ W: service('Active', [process({}), process({ isolation: 'bubblewrap' })]) })[0]!.isolation,
  ).toBe('bubblewrap'));

test('a list of an older form has no rows', () => expect(serviceRows([])).toEqual([]));

test('a service without processes is a row as well', () =>
  expect(serviceRows({ X: { status: 'Active', extra_info: {} } })[0]).toMatchObject({ processes: [] }));

test('a node has its status beside it, where there is one', () => {
  const managers = [
    { hostname: 'a', private_ip: '10.0.0.1', public_ip: '10.0.0.1', version: '1', last_seen: 't' },
    { hostname: 'b', private_ip: '10.0.0.2', public_ip: '1.2.3.4' },
  ];
  expect(nodeRows(managers, { a: { status: 'Fail', failures: ['worker w1'] } })).toEqual([
    {
      hostname: 'a',
      health: 'failing',
      address: '10.0.0.1',
      version: '1',
      lastSeen: 't',
      failures: ['worker w1'],
    },
    { hostname: 'b', health: null, address: '10.0.0.2, 1.2.3.4', version: '', lastSeen: null, failures: [] },
  ]);
});
