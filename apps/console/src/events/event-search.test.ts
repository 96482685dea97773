import { eventInstant, eventKey, eventStorageId } from './event-key';
import { eventQueryOf, rangeOf, rangeText, readEventSearch } from './event-search';

test('unknown words of an address are dropped', () => {
  const read = readEventSearch({
    level: 'loud',
    type: 'platform_log',
    _range: 'x,1,2',
    message: 'a',
    b: 'c',
  });
  expect(JSON.parse(JSON.stringify(read))).toEqual({ type: 'platform_log', message: 'a' });
});

test('a text is looked for as it is written', () =>
  expect(eventQueryOf({ message: '50%_\\' }).message).toBe('%50\\%\\_\\\\%'));

test('a level means it and what is worse', () =>
  expect(eventQueryOf({ level: 'warning', deployment_id: 'd' })).toMatchObject({
    level: ['warning', 'error', 'critical'],
    deployment_id: 'd',
  }));

test('without a text there is no pattern', () => expect(eventQueryOf({}).message).toBeUndefined());

const from = '2026-01-01T00:00:00.000Z';
test.each([
  [`timestamp,${from},`, { from, to: undefined }],
  [`timestamp,,${from}`, { from: undefined, to: from }],
  ['timestamp,,', { from: undefined, to: undefined }],
  ['reported_timestamp,1,2', {}],
  [undefined, {}],
])('%j is %j', (text, range) => expect(rangeOf(text)).toEqual(range));

test('a range without ends is none', () => {
  expect(rangeText({})).toBeUndefined();
  expect(rangeText({ to: from })).toBe(`timestamp,,${from}`);
});

test('an event is found by its millisecond and its number', () => {
  const key = eventKey({ timestamp: '2026-01-01T00:00:00.123Z', _storage_id: 7 });
  expect(eventInstant(key)).toEqual({ from: '2026-01-01T00:00:00.123Z', to: '2026-01-01T00:00:00.124Z' });
  expect(eventStorageId(key)).toBe(7);
  expect(eventInstant('nonsense').from).toBe('1970-01-01T00:00:00.000Z');
  expect(eventStorageId('nonsense')).toBeNaN();
});
