import { MOST_LINES, textLines, textOf, visible } from './text-lines';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('lines are those of all systems, without an empty one at the end', () =>
  expect(textLines(bytes('a\r\nb\rc\n'))).toEqual({
    lines: ['a', 'b', 'c'],
    isCut: false,
    hasHidden: false,
  }));

test('what turns text around is written out', () => {
  expect(textLines(bytes('if x\u202e # y'))).toMatchObject({ lines: ['if x[U+202E] # y'], hasHidden: true });
  expect(visible('a\tb\u200bc')).toBe('a\tb[U+200B]c');
});

test('bytes that are no text are told', () => {
  expect(textLines(new Uint8Array([137, 80, 78, 71, 0]))).toBeNull();
  expect(textLines(new Uint8Array([0xff, 0xfe, 0x41]))).toBeNull();
});

test('a part may end within a character', () => {
  const part = bytes('aé').slice(0, 2);
  expect(textOf(part)).toBeNull();
  expect(textOf(part, true)).toBe('a');
});

test('very many lines, and very long ones, are cut', () => {
  const many = textLines(bytes('x\n'.repeat(MOST_LINES + 5)))!;
  expect([many.lines.length, many.isCut]).toEqual([MOST_LINES, true]);
  expect(textLines(bytes('y'.repeat(100_000)))!.lines[0]!.length).toBeLessThan(6000);
});
