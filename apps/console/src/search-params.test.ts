import { choicesOf, filtersOf, flagOf, parseSearch, stringifySearch, textOf } from './search-params';

test('what is written is read again', () => {
  const search = { _search: 'a b&c', status: ['failed', 'queued'], _sort: '-id' };
  expect(stringifySearch(search)).toBe('?_search=a+b%26c&status=failed&status=queued&_sort=-id');
  expect(parseSearch(stringifySearch(search))).toEqual(search);
});

test('empty values are left out', () => {
  expect(stringifySearch({ a: '', b: undefined, c: null, d: [], e: false })).toBe('');
  expect(stringifySearch({ e: true })).toBe('?e=true');
});

test('values of other kinds and unknown choices are dropped', () => {
  expect([textOf(['a', 'b']), textOf(5), textOf('')]).toEqual(['a', undefined, undefined]);
  expect(choicesOf(['x', 'b', 'b'], ['a', 'b'])).toEqual(['b']);
  expect(choicesOf('z', ['a'])).toBeUndefined();
  expect([flagOf('true'), flagOf('1'), flagOf(undefined)]).toEqual([true, undefined, undefined]);
});

test('filters are told without the order', () => {
  const search = { _sort: 'id', _search: 'x', deployment_status: ['good'], blueprint_id: undefined };
  expect(filtersOf(search)).toEqual([
    ['_search', ['x']],
    ['deployment_status', ['good']],
  ]);
});
