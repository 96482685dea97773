import { clusterGroups, clusterStatusOf, type Instance, managerStatusOf, serviceStatuses } from './health';

const SERVICES = [
  'gateway',
  'identity',
  'catalog',
  'deployments',
  'executions',
  'secrets',
  'cluster-status',
  'worker',
] as const;
const fine = { database: { ok: true }, broker: { ok: true } };

function instance(service: Instance['service'], more: Partial<Instance> = {}): Instance {
  return {
    service,
    instance_id: `${service}-1`,
    hostname: 'h1',
    version: '1',
    pid: 7,
    started_at: '',
    checks: fine,
    is_alive: true,
    ...more,
  };
}
const all = SERVICES.map((service) => instance(service));
const host = (hostname: string) => ({ hostname, address: '10.0.0.1', version: '1', publicIp: '10.0.0.1' });

test('everything well: OK', () => {
  expect(managerStatusOf(serviceStatuses(all, true))).toBe('OK');
  expect(clusterStatusOf(clusterGroups(all, [host('h1')]))).toBe('OK');
});

test('a service without a living instance makes the manager fail and is named', () => {
  const dead = all.map((one) => (one.service === 'catalog' ? { ...one, is_alive: false } : one));
  const services = serviceStatuses(dead, true);
  expect(managerStatusOf(services)).toBe('Fail');
  expect(services['Blueprint Catalog']!.status).toBe('Inactive');
  expect(clusterStatusOf(clusterGroups(dead, [host('h1')]))).toBe('Fail');
});

test('a lost replica whose service lives on elsewhere only degrades the cluster', () => {
  const two = [...all, instance('worker', { instance_id: 'worker-2', hostname: 'h2', is_alive: false })];
  const groups = clusterGroups(two, [host('h1'), host('h2')]);
  expect(groups.manager.status).toBe('Degraded');
  expect(groups.manager.nodes.h2).toMatchObject({ status: 'Fail', failures: ['worker worker-2'] });
  expect(managerStatusOf(serviceStatuses(two, true))).toBe('OK');
});

test('a broker that a service cannot reach fails, with the reason', () => {
  const cut = all.map((one) =>
    one.service === 'worker' ? { ...one, checks: { broker: { ok: false, detail: 'refused' } } } : one,
  );
  expect(serviceStatuses(cut, true).RabbitMQ).toMatchObject({
    status: 'Inactive',
    extra_info: { connection_check: 'refused' },
  });
  expect(clusterGroups(cut, [host('h1')]).broker.status).toBe('Fail');
});

test('a worker that cannot do its work is not active, and says why', () => {
  const problem = 'BATON_WORKER_HANDLERS /x.js cannot be loaded: no such file';
  const broken = all.map((one) =>
    one.service === 'worker'
      ? { ...one, checks: { ...one.checks, handlers: { ok: false, detail: problem } } }
      : one,
  );
  const services = serviceStatuses(broken, true);
  expect(managerStatusOf(services)).toBe('Fail');
  expect(services['Management Worker']).toMatchObject({
    status: 'Inactive',
    extra_info: { systemd: { instances: [{ ActiveState: 'failed', problem }] } },
  });
});

test('there is a row for RabbitMQ only where there is one', () => {
  expect(serviceStatuses(all, true)).toHaveProperty('RabbitMQ');
  expect(serviceStatuses(all, false)).not.toHaveProperty('RabbitMQ');
});

test('a worker shows how operations are kept apart there', () => {
  const detail = 'bubblewrap: an account for each tenant; not enforced: the network';
  const told = all.map((one) =>
    one.service === 'worker' ? { ...one, checks: { ...fine, isolation: { ok: true, detail } } } : one,
  );
  const services = serviceStatuses(told, true);
  const shown = (name: string) => services[name]!.extra_info.systemd as { instances: object[] };
  expect(shown('Management Worker').instances).toEqual([expect.objectContaining({ isolation: detail })]);
  expect(shown('Webserver').instances[0]).not.toHaveProperty('isolation');
});
