import { createShortcuts } from './keyboard';

const key = (name: string, more = {}) => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

const PLACES = { d: '/deployments', e: '/executions' };

test.each([
  ['/', 'search'],
  [':', 'palette'],
  ['?', 'help'],
  ['j', 'next'],
  ['k', 'previous'],
  ['d', null],
])('%s alone is %s', (name, shortcut) => expect(createShortcuts(PLACES)(key(name), false, 0)).toBe(shortcut));

test('g and a second key within a second go somewhere', () => {
  const read = createShortcuts(PLACES);
  expect([read(key('g'), false, 0), read(key('d'), false, 900), read(key('d'), false, 950)]).toEqual([
    null,
    '/deployments',
    null,
  ]);
  read(key('g'), false, 2000);
  expect(read(key('e'), false, 3001)).toBeNull();
  read(key('g'), false, 4000);
  expect(read(key('/'), false, 4100)).toBeNull();
});

test('keys that are typed, or held with others, are not ours', () => {
  const read = createShortcuts(PLACES);
  expect(read(key('/'), true, 0)).toBeNull();
  expect(read(key('/', { ctrlKey: true }), false, 0)).toBeNull();
});

test('Ctrl-K opens the palette from everywhere, in a field too', () => {
  const read = createShortcuts(PLACES);
  expect(read(key('k', { ctrlKey: true }), true, 0)).toBe('palette');
  expect(read(key('k', { metaKey: true }), false, 0)).toBe('palette');
  expect(read(key('k', { ctrlKey: true, altKey: true }), false, 0)).toBeNull();
});
