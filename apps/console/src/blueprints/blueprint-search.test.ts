import { readBlueprintSearch } from './blueprint-search';

test('only known parameters of an address count', () => {
  expect(
    readBlueprintSearch({
      _search: 'web',
      state: 'invalid',
      visibility: 'secret',
      _filter_id: 'mine',
      _sort: '-id',
      _size: '9999',
    }),
  ).toEqual({ _search: 'web', state: 'invalid', visibility: undefined, _filter_id: 'mine', _sort: '-id' });
});
