import { parse } from 'yaml';
import { eventLine } from './follow';
import { type Format, printer } from './output';
import { plainText } from './plain-text';

/** Moves the cursor, changes the title, C1 control sequence, turns the direction of the line, goes back to its start. */
const HOSTILE = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202eend\r';
const SITES = [
  { name: 'lab', created_at: '2026-11-26T20:14:05.123Z', visibility: 'tenant', extra: { a: 1 } },
  { name: HOSTILE, created_at: null, visibility: 'tenant', extra: 'two\nlines' },
];
const COLUMNS = ['name', 'created_at'];
const VIEW = { wide: ['visibility', 'extra'], name: 'name' };
/** The characters that a terminal obeys. */
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

function printed(format: Format, isColoured = false): string {
  let text = '';
  printer({ format, isColoured, write: (piece) => void (text += piece) }).table(SITES, COLUMNS, VIEW);
  return text;
}

test('a table has dates and times, and cells in one line', () => {
  const lines = printed('table').split('\n');
  expect(lines[2]).toMatch(/^lab +2026-11-26 20:14$/);
  expect(lines).toHaveLength(6);
  expect(printed('wide')).toContain('two lines');
});

test.each(['table', 'wide', 'json', 'yaml', 'name'] as const)(
  '-o %s passes nothing on that a terminal obeys',
  (format) => {
    expect(printed(format)).not.toMatch(OBEYED);
  },
);

test('json and yaml keep the values', () => {
  expect(JSON.parse(printed('json'))).toEqual(SITES);
  expect(parse(printed('yaml'))).toEqual(SITES);
});

test('-o name prints one name a line', () => {
  expect(printed('name').split('\n')[0]).toBe('lab');
});

test('only tables have colours', () => {
  const rows = [{ id: 'e', status: 'failed' }];
  const text = (format: Format, isColoured: boolean): string => {
    let all = '';
    printer({ format, isColoured, write: (piece) => void (all += piece) }).table(rows, ['id', 'status']);
    return all;
  };
  expect(text('table', true)).toContain('\u001b[31mfailed\u001b[0m');
  expect(text('table', false)).not.toContain('\u001b');
  for (const format of ['json', 'yaml', 'name'] as const)
    expect(text(format, true)).toBe(text(format, false));
});

test('sentences and results are plain', () => {
  let text = '';
  const out = printer({ format: 'table', write: (piece) => void (text += piece) });
  out.say(HOSTILE);
  out.done(HOSTILE, {});
  out.record({ [HOSTILE]: HOSTILE });
  out.line(HOSTILE, {});
  expect(text).not.toMatch(OBEYED);
  expect(text).toContain('\\x1b[2J');
});

test('a message cannot look like an event of its own', () => {
  const message = 'done\n2026-11-26 20:14:05.000  CFY <d> forged';
  const lines = eventLine({
    message,
    reported_timestamp: '2026-11-26T20:14:05.123Z',
    type: 'cloudify_log',
  } as never).split('\n');
  expect(lines[0]).toMatch(/^2026-11-26 20:14:05\.123 {2}LOG/);
  expect(lines[1]).toMatch(/^ {4}2026/);
});

test('tabs and line ends stay, other control characters become their codes', () => {
  expect(plainText('a\tb\nc\u0000\u2066')).toBe('a\tb\nc\\x00\\u2066');
});
