// Relationships collect hosts in the runtime properties of their source, at a manager over real HTTP.
import { type ManagerDouble, startManagerDouble } from '../testing/manager-double';
import { makeRig } from '../testing/operation-rig';

const KEY =
  '-----BEGIN OPENSSH PRIVATE KEY-----\nnot a real one, and long enough\n-----END OPENSSH PRIVATE KEY-----\n';
let manager: ManagerDouble;
beforeAll(async () => {
  manager = await startManagerDouble();
  manager.groups = { everybody: { members: ['vm'] }, others: { members: ['db'] } };
});
afterAll(() => manager.close());

const rigTo = (instanceId: string, runtime: object = {}) =>
  makeRig('/none', {
    target: {
      id: 'vm',
      instanceId,
      typeHierarchy: ['cloudify.nodes.Root', 'cloudify.nodes.Compute'],
      properties: { ip: '10.0.0.1', agent_config: { user: 'centos', key: KEY } },
      runtime,
    },
  });

it('takes address and login of a machine, and stores where its key is instead of the key', async () => {
  const rig = rigTo('vm_1', { ip: '10.0.0.7' });
  await rig.run('ansible_requires_host');
  expect(rig.runtime.sources).toEqual({
    all: {
      hosts: {},
      children: {
        everybody: { hosts: { 'vm-1': null } },
        'cloudify.nodes.Compute': {
          hosts: {
            'vm-1': {
              ansible_host: '10.0.0.7',
              ansible_user: 'centos',
              ansible_ssh_private_key_file: { get_property: ['vm', 'agent_config', 'key'] },
              ansible_ssh_common_args: '-o StrictHostKeyChecking=no',
              ansible_become: true,
            },
          },
        },
      },
    },
  });
  expect(manager.secrets.size).toBe(0);
});

it('puts keys and passwords of host_config into secrets, and removes those of a host with the host', async () => {
  const one = rigTo('vm_1');
  const of = (hostname: string, host_config: object) => ({ group_name: 'web', hostname, host_config });
  const login = { ansible_user: 'centos', ansible_port: 2222, ansible_ssh_private_key_file: KEY };
  await one.run('ansible_requires_host', of('one', login));
  const two = rigTo('vm_2');
  two.runtime = one.runtime;
  await two.run(
    'ansible_requires_host',
    of('two', { ansible_password: 'open sesame', ansible_host: '10.0.0.2' }),
  );
  expect(JSON.stringify(two.runtime)).not.toMatch(/BEGIN|sesame/);
  expect(two.runtime.sources).toMatchObject({
    all: {
      children: {
        web: {
          hosts: {
            one: { ansible_port: 2222, ansible_ssh_private_key_file: { get_secret: expect.any(String) } },
            two: { ansible_host: '10.0.0.2', ansible_password: { get_secret: expect.any(String) } },
          },
        },
      },
    },
  });
  expect([...manager.secrets.values()]).toEqual([KEY, 'open sesame']);
  await two.run('ansible_remove_host', { group_name: 'web', hostname: 'one' });
  expect([...manager.secrets.values()]).toEqual(['open sesame']);
  expect(two.runtime.sources).toMatchObject({ all: { children: { web: { hosts: { two: {} } } } } });
  await two.run('cleanup');
  expect([manager.secrets.size, two.runtime]).toEqual([0, {}]);
});

it('belongs to relationships alone', async () => {
  await expect(makeRig('/none').run('ansible_requires_host')).rejects.toThrow('belongs to a relationship');
});
