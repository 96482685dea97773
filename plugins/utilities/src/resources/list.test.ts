import { testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';

const list = (resource_config: unknown = ['10.0.0.1', '10.0.0.2']) =>
  testNode(plugin, 'cloudify.nodes.resources.List', { properties: { resource_config } as never });

it('reserves items by name, and takes them back', async () => {
  const node = list();
  await node.run('create');
  expect(await node.run('reserve', { reservation_id: 'web' })).toBe('web');
  const own = await node.run('reserve');
  expect(node.runtimeProperties).toEqual({
    resource_config: ['10.0.0.1', '10.0.0.2'],
    free_resources: [],
    reservations: { web: '10.0.0.1', [own as string]: '10.0.0.2' },
  });
  await expect(node.run('reserve', { reservation_id: 'late' })).rejects.toThrow(
    'no item of the list is free',
  );
  await node.run('return', { reservation_id: 'web' });
  await node.run('return', { reservation_id: 'web' });
  expect(node.runtimeProperties.free_resources).toEqual(['10.0.0.1']);
  await node.run('delete');
  expect(node.runtimeProperties).toEqual({ resource_config: [], free_resources: [], reservations: {} });
});

it('refuses a name that is taken, except for the operation that has taken it before its worker died', async () => {
  const node = list();
  await node.run('create');
  await node.run('reserve', { reservation_id: 'web' });
  await expect(node.run('reserve', { reservation_id: 'web' })).rejects.toThrow(
    'the reservation_id web is taken already',
  );
  await node.run('reserve', { reservation_id: 'web' }, { isResumed: true });
  expect(node.runtimeProperties.free_resources).toEqual(['10.0.0.2']);
});

it('a reservation without a name has one item after the loss of its worker', async () => {
  const node = list();
  await node.run('create');
  const id = await node.run('reserve', {}, { taskId: 't' });
  expect(await node.run('reserve', {}, { taskId: 't', isResumed: true })).toBe(id);
  expect(node.runtimeProperties.reservations).toEqual({ [id as string]: '10.0.0.1' });
});

it('refuses anything but a list', async () => {
  await expect(list('x').run('create')).rejects.toThrow('must be of type: list');
});

it('an item begins and ends without a reservation', async () => {
  const item = testNode(plugin, 'cloudify.nodes.resources.ListItem');
  await item.run('create');
  expect(item.runtimeProperties).toEqual({ reservation: '' });
});
