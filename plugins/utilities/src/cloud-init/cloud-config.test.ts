import { testNode } from '@baton/plugin-sdk/testing';
import { parse } from 'yaml';
import plugin from '../plugin';

const TYPE = 'cloudify.nodes.CloudInit.CloudConfig';
const users = [{ name: 'centos', shell: '/bin/bash', sudo: ['ALL=(ALL) NOPASSWD:ALL'] }];
const node = (properties: object, files: Record<string, string> = {}) =>
  testNode(plugin, TYPE, { properties: properties as never, files });

it('writes the text with its header, and the same as JSON', async () => {
  const config = node({ resource_config: { users } });
  await config.run('create', { resource_config: { packages: [['gcc']] } });
  expect(config.runtimeProperties.cloud_config).toBe(`#cloud-config
users:
- name: centos
  shell: /bin/bash
  sudo:
  - ALL=(ALL) NOPASSWD:ALL
packages:
- - gcc
`);
  const whole = { users, packages: [['gcc']] };
  expect(JSON.parse(config.runtimeProperties.json_config as string)).toEqual(whole);
  expect(config.runtimeProperties.resource_config).toEqual(whole);
});

it('encodes the text, and leaves the header out', async () => {
  const config = node({ resource_config: { users }, encode_base64: true, header: null });
  await config.run('create');
  const text = Buffer.from(config.runtimeProperties.cloud_config as string, 'base64').toString();
  expect(parse(text)).toEqual({ users });
});

it('is written again by each operation, with the input before what is stored before the property', async () => {
  const config = node({ resource_config: { a: 1, b: 1, c: 1 } });
  await config.run('create', { resource_config: { b: 2, c: 2 } });
  await config.run('configure', { resource_config: { c: 3 } });
  expect(config.runtimeProperties.resource_config).toEqual({ a: 1, b: 2, c: 3 });
  await config.run('configure', { resource_config: { c: 4 } });
  expect(config.runtimeProperties.resource_config).toEqual({ a: 1, b: 2, c: 3 });
  await config.run('configure', { resource_config: { c: 4 }, force_rerun: true });
  expect(config.runtimeProperties.resource_config).toEqual({ a: 1, b: 2, c: 4 });
});

it('may start again after a stop, and leaves nothing after delete', async () => {
  const config = node({});
  await config.run('start', { resource_config: { n: 1 } });
  await config.run('stop');
  await config.run('start', { resource_config: { n: 2 } });
  expect(config.runtimeProperties.resource_config).toEqual({ n: 2 });
  await config.run('delete');
  expect(config.runtimeProperties).toEqual({});
});

it('takes the content of files from the blueprint', async () => {
  const write_files = [
    { path: '/etc/a', content: { resource_type: 'file_resource', resource_name: 'a.conf' } },
    { path: '/etc/b', content: 'text' },
    'odd',
  ];
  const config = node({ resource_config: { write_files } }, { 'a.conf': 'line 1\nline 2: {{ x }}\n' });
  await config.run('create');
  expect(parse(config.runtimeProperties.cloud_config as string)).toEqual({
    write_files: [
      { path: '/etc/a', content: 'line 1\nline 2: {{ x }}\n' },
      { path: '/etc/b', content: 'text' },
      'odd',
    ],
  });
  await expect(node({ resource_config: { write_files } }).run('create')).rejects.toThrow('a.conf');
});

it.each(['yes', 'no', 'on', '0123', '1:30', '~', '2020-01-01', '#x', 'a: b', '*x', '&x', '!!js/function x'])(
  'keeps the text %j a text',
  async (text) => {
    const config = node({ resource_config: { value: text } });
    await config.run('create');
    expect(parse(config.runtimeProperties.cloud_config as string, { version: '1.1' })).toEqual({
      value: text,
    });
  },
);

it('refuses a configuration that is no dictionary', async () => {
  await expect(node({ resource_config: 'x' }).run('create')).rejects.toThrow('expected a dictionary');
  await expect(node({}).run('create', { resource_config: ['x'] })).rejects.toThrow('inputs.resource_config');
});
