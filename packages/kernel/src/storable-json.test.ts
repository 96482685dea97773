import { storableJson } from './storable-json';

const stored = (value: unknown) => JSON.parse(storableJson(JSON.stringify(value)));

test.each([
  ['a\u0000b', 'a\ufffdb'],
  ['\ud800 and \udfff', '\ufffd and \ufffd'],
  [{ '\u0000': ['\udc00'] }, { '\ufffd': ['\ufffd'] }],
])('%j is stored without what no database holds', (value, expected) => {
  expect(stored(value)).toEqual(expected);
});

test('pairs that are written as escapes stay', () => {
  expect(storableJson('"\\ud83d\\ude00 \\uD83D \\uDE00"')).toBe('"\\ud83d\\ude00 \\ufffd \\ufffd"');
});

test.each(['\\u0000', '\\\\ud800', '\u0001"\\', '😀 é', '\\'])('%j stays as it is', (text) => {
  expect(stored([text, '\u0000'])).toEqual([text, '\ufffd']);
  expect(stored(text)).toBe(text);
});
