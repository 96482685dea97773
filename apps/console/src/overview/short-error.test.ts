import { shortError } from './short-error';

test.each([
  ['one line', 'one line'],
  ['\n  first\nsecond', 'first'],
  ['Traceback (most recent call last):\n  File "a.py"\nValueError: no port\n', 'ValueError: no port'],
  ['', ''],
  [null, ''],
  [undefined, ''],
])('%j is %j', (text, short) => expect(shortError(text)).toBe(short));

test('a long line is cut', () => expect(shortError('x'.repeat(1000))).toHaveLength(301));
