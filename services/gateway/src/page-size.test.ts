import { clusterStatusRpc, type RouteContract } from '@baton/contracts';
import { createLocalRpc } from '@baton/rpc';
import { createPageSize } from './page-size';

const list = { list: { fields: [] } } as unknown as RouteContract;
const events = { list: { fields: [], defaultSize: 10_000 } } as unknown as RouteContract;
const single = {} as RouteContract;

test('lists that name no size get the one that somebody has set, and only those', async () => {
  const config = { valuesJson: JSON.stringify({ default_page_size: 7 }), changed: [] as string[] };
  const rpc = createLocalRpc();
  rpc.serve('cluster-status', clusterStatusRpc.ClusterStatusServiceDefinition, {
    getConfig: async () => config,
  } as never);
  const size = createPageSize(rpc);
  const completed = () => [
    size.complete(list, ''),
    size.complete(list, '_sort=id'),
    size.complete(list, 'a=1&_size=3'),
    size.complete(events, ''),
    size.complete(single, ''),
  ];
  const untouched = ['', '_sort=id', 'a=1&_size=3', '', ''];
  expect(completed()).toEqual(untouched);
  await size.refresh();
  expect(completed()).toEqual(untouched);
  config.changed = ['default_page_size'];
  await size.refresh();
  expect(completed()).toEqual(['_size=7', '_sort=id&_size=7', 'a=1&_size=3', '', '']);
});
