import { matching, moved, scoreOf } from './palette-match';

const items = ['Executions', 'Deployments', 'New secret', 'Secrets', 'Secrets providers'].map((text) => ({
  text,
}));
const found = (typed: string) => matching(items, typed).map(({ text }) => text);

test('nothing typed keeps all in their order', () =>
  expect(found('')).toEqual(items.map(({ text }) => text)));

test('the best comes first', () => {
  expect(found('secrets')).toEqual(['Secrets', 'Secrets providers']);
  expect(found('sp')).toEqual(['Secrets providers']);
  expect(found('new s')[0]).toBe('New secret');
});

test('letters that are not there find nothing', () => {
  expect(scoreOf('Secrets', 'x')).toBeNull();
  expect(found('zzz')).toEqual([]);
});

test.each([
  [0, 'ArrowUp', 3, 2],
  [2, 'ArrowDown', 3, 0],
  [1, 'Home', 3, 0],
  [1, 'End', 3, 2],
  [1, 'x', 3, 1],
  [5, 'ArrowDown', 0, 0],
])('from %d by %s among %d: %d', (at, key, length, to) => expect(moved(at, key, length)).toBe(to));
