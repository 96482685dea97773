import { countQuery, filterQuery, pageQuery, readDeploymentSearch } from './deployment-search';

test('only known parameters of an address count', () => {
  expect(
    readDeploymentSearch({
      _search: 'web',
      deployment_status: ['good', 'wrong'],
      latest_execution_status: 'failed',
      _sort: 'password',
      _size: '100000',
      blueprint_id: '',
    }),
  ).toEqual({
    _search: 'web',
    deployment_status: ['good'],
    installation_status: undefined,
    latest_execution_status: ['failed'],
    blueprint_id: undefined,
    _sort: undefined,
  });
});

test('a search looks in ids and names, and equals have an order', () => {
  expect(pageQuery({ _search: 'web' })).toEqual({
    _search: 'web',
    _search_name: 'web',
    _sort: ['-created_at', 'id'],
  });
  expect(pageQuery({ _sort: '-id' })._sort).toEqual(['-id']);
  expect(pageQuery({ _sort: 'blueprint_id' })._sort).toEqual(['blueprint_id', 'id']);
});

test('counts are of all statuses, with the other filters', () =>
  expect(countQuery({ deployment_status: ['good'], blueprint_id: 'b', _sort: 'id' })).toEqual({
    blueprint_id: 'b',
  }));

test('the order is no filter', () => expect(filterQuery({ _sort: 'id' })).toEqual({}));
