import { groupAndName, type HostValues, hostConfigOf } from './host-config';
import { isEmpty, merged, sourcesOf, sourcesOfHost, without } from './sources';

const compute = (more: Partial<HostValues> = {}): HostValues => ({
  instanceId: 'vm_abc123',
  nodeId: 'vm',
  type: 'my.nodes.Web',
  typeHierarchy: ['cloudify.nodes.Root', 'cloudify.nodes.Compute', 'my.nodes.Web'],
  properties: { ip: '10.0.0.1', agent_config: { user: 'centos', key: 'KEY', port: 2222 } },
  runtime: {},
  ...more,
});

it('collects hosts of relationships in groups, as the original does, and takes them out again', () => {
  const one = sourcesOfHost('Web_1', { ansible_host: '10.0.0.1' }, 'web', ['everybody']);
  const two = sourcesOfHost('two', { ansible_host: '10.0.0.2' }, 'web');
  const both = merged(merged({}, one), two);
  expect(both).toEqual({
    all: {
      hosts: {},
      children: {
        everybody: { hosts: { 'web-1': null } },
        web: { hosts: { 'web-1': { ansible_host: '10.0.0.1' }, two: { ansible_host: '10.0.0.2' } } },
      },
    },
  });
  expect(without(both, sourcesOfHost('web_1', {}, 'web', ['everybody'])).all.children).toEqual({
    everybody: { hosts: {} },
    web: { hosts: { two: { ansible_host: '10.0.0.2' } } },
  });
});

it('reads groups without all, keeps variables of groups, and replaces a host that is there', () => {
  const given = { web: { vars: { a: 1 }, hosts: { one: { ansible_host: 'x' } } } };
  const again = merged(given, sourcesOfHost('one', { ansible_host: 'y' }, 'web'));
  expect(again.all.children.web).toEqual({ vars: { a: 1 }, hosts: { one: { ansible_host: 'y' } } });
  expect(sourcesOf('text').all).toEqual({ hosts: {}, children: {} });
  expect([isEmpty(undefined), isEmpty(''), isEmpty({}), isEmpty(given)]).toEqual([true, true, true, false]);
});

it('makes the values of a host of its node, with references in place of key and password', () => {
  expect(hostConfigOf(compute({ runtime: { ip: '10.0.0.9' } }))).toEqual({
    ansible_host: '10.0.0.9',
    ansible_user: 'centos',
    ansible_port: 2222,
    ansible_ssh_private_key_file: { get_property: ['vm', 'agent_config', 'key'] },
    ansible_ssh_common_args: '-o StrictHostKeyChecking=no',
    ansible_become: true,
  });
});

it.each(["{{ lookup('pipe', 'id') }}", '-oProxyCommand=id', '10.0.0.1\nansible_user=root', '$(id)'])(
  'refuses the address %j of a machine: it would run on the worker',
  (ip) => {
    expect(() => hostConfigOf(compute({ runtime: { ip } }))).toThrow('ansible_host of vm is ');
  },
);

it('names group and host after type and instance, and refuses what is no machine', () => {
  expect(groupAndName(compute(), '', '')).toEqual({ group: 'my.nodes.Web', name: 'vm_abc123' });
  expect(groupAndName(compute(), 'web', 'one')).toEqual({ group: 'web', name: 'one' });
  const root = compute({ typeHierarchy: ['cloudify.nodes.Root'] });
  expect(groupAndName(root, 'web', '')).toEqual({ group: 'web', name: 'vm_abc123' });
  expect(() => groupAndName(root, '', '')).toThrow('there is no inventory: vm is no cloudify.nodes.Compute');
});
