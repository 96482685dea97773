import { readAgentSearch } from './agent-search';

test('the address holds the filters; what is unknown is dropped', () => {
  const address = { state: ['failed', 'odd'], install_method: 'remote', deployment_id: 'web', size: '7' };
  expect(readAgentSearch(address)).toEqual({
    _search: undefined,
    state: ['failed'],
    is_connected: undefined,
    install_method: ['remote'],
    deployment_id: 'web',
  });
});
