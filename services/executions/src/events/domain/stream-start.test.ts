import { streamStart } from './stream-start';

test('without anything a stream begins with the first event', () => {
  expect(streamStart(undefined, undefined)).toEqual({ kind: 'after', seq: 0 });
  expect(streamStart('', 'start')).toEqual({ kind: 'after', seq: 0 });
});

test('the last id comes before the place to begin at', () => {
  expect(streamStart('17', 'tail:5')).toEqual({ kind: 'after', seq: 17 });
  expect(streamStart(undefined, 'tail:5')).toEqual({ kind: 'tail', count: 5 });
  expect(streamStart(undefined, 'tail:0')).toEqual({ kind: 'tail', count: 0 });
});

test.each(['tail', 'tail:', 'tail:-1', 'tail:10001', 'tail:1e3', 'end', 'tail:1;drop'])(
  'refuses from=%s',
  (from) => {
    expect(() => streamStart(undefined, from)).toThrow(/is no place to begin at/);
  },
);

test.each(['x', '-1', '1.5', '9007199254740993'])('refuses Last-Event-ID %s', (id) => {
  expect(() => streamStart(id, undefined)).toThrow(/is no event id/);
});
