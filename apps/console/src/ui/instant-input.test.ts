import { inputText, instantOf } from './instant-input';

test('UTC goes in and out as it is', () => {
  expect(inputText('2026-03-04T05:06:07.890Z', 'utc')).toBe('2026-03-04T05:06:07');
  expect(instantOf('2026-03-04T05:06:07', 'utc')).toBe('2026-03-04T05:06:07.000Z');
});

test('local time comes back as the same instant', () => {
  const text = inputText('2026-07-04T05:06:07.000Z', 'local');
  expect(instantOf(text, 'local')).toBe('2026-07-04T05:06:07.000Z');
});

test.each([undefined, '', 'yesterday'])('%j is an empty field', (iso) =>
  expect(inputText(iso, 'utc')).toBe(''),
);

test('a half typed field is no instant', () => expect(instantOf('', 'local')).toBeUndefined());
