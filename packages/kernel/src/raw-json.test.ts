import { jsonParts, jsonText, RawJson } from './index';

const raw = new RawJson('{"a": [1,  2]}');

test('a raw text stands in the answer byte by byte, wherever it is', () => {
  expect(jsonText({ x: raw, list: [raw, { y: 'é"' }], none: undefined })).toBe(
    '{"x":{"a": [1,  2]},"list":[{"a": [1,  2]},{"y":"é\\""}]}',
  );
  expect(jsonText(raw)).toBe(raw.text);
  expect(jsonText(undefined)).toBe('null');
});

test('raw parts are handed on as they are, so that their bytes are made once', () => {
  const parts = jsonParts([raw, raw]);
  expect(parts).toEqual(['[', raw, ',', raw, ']']);
  expect(raw.bytes).toBe(raw.bytes);
});

test('one that is put together of parts is the same as its text', () => {
  const whole = new RawJson(['{"own":1', new RawJson(',"shared":2}')]);
  expect(whole.text).toBe('{"own":1,"shared":2}');
  expect(jsonText([whole, whole])).toBe('[{"own":1,"shared":2},{"own":1,"shared":2}]');
  expect(JSON.stringify(whole)).toBe(whole.text);
});

test('elsewhere it is written as its value', () => {
  expect(JSON.stringify({ x: raw })).toBe('{"x":{"a":[1,2]}}');
  expect(raw.value).toEqual({ a: [1, 2] });
});

test('a value that cannot be written leaves nothing behind for the next one', () => {
  const ring: Record<string, unknown> = { raw };
  ring.self = ring;
  expect(() => jsonText(ring)).toThrow('circular');
  expect(JSON.stringify(raw)).toBe('{"a":[1,2]}');
});
