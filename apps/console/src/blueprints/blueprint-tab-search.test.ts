import { readBlueprintTabSearch } from './blueprint-tab-search';

test('a line is a number from 1; the rest is dropped', () => {
  expect(readBlueprintTabSearch({ file: 'a.yaml', line: '12', view: 'table', x: '1' })).toEqual({
    view: 'table',
    file: 'a.yaml',
    line: 12,
    _search: undefined,
  });
  expect(readBlueprintTabSearch({ line: '-1', view: 'graph' })).toEqual({});
});
