import { componentDeployments } from './cancel-components';

it('the deployments of component instances are found, but those of other managers', () => {
  const node = (id: string, type_hierarchy: string[], properties = {}) => ({
    id,
    type: id,
    type_hierarchy,
    properties,
    operations: {},
    relationships: [],
  });
  const instance = (node_id: string, runtime_properties?: object) => ({
    id: `${node_id}_1`,
    node_id,
    state: null,
    relationships: [],
    ...(runtime_properties && { runtime_properties }),
  });
  const component = ['cloudify.nodes.Root', 'cloudify.nodes.Component'];
  const model = {
    nodes: [
      node('part', component, { client: {} }),
      node('far', component, { client: { host: 'elsewhere' } }),
      node('shared', ['cloudify.nodes.SharedResource']),
    ],
    nodeInstances: [
      instance('part', { deployment: { id: 'mine' } }),
      instance('part'),
      instance('far', { deployment: { id: 'theirs' } }),
      instance('shared', { deployment: { id: 'used' } }),
    ],
  };
  expect(componentDeployments(model as never)).toEqual(['mine']);
});
