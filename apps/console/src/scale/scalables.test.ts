import { scalablesOf, wishOf } from './scalables';

const node = (id: string, hostId: string | null = null) => ({
  id,
  host_id: hostId,
  number_of_instances: 2,
  min_number_of_instances: 1,
  max_number_of_instances: -1,
});

test('groups come first, with their numbers of now and their bounds', () => {
  const groups = {
    pair: { members: ['a', 'b'], properties: { current_instances: 3, min_instances: 1, max_instances: 5 } },
  };
  expect(scalablesOf(groups, [node('a', 'host'), node('host', 'host')])).toEqual([
    { name: 'pair', kind: 'group', now: 3, least: 1, most: 5, members: ['a', 'b'], isContained: false },
    { name: 'a', kind: 'node', now: 2, least: 1, most: null, members: [], isContained: true },
    { name: 'host', kind: 'node', now: 2, least: 1, most: null, members: [], isContained: false },
  ]);
});

test('a group without numbers has one instance and no bounds', () =>
  expect(scalablesOf({ g: {} }, [])[0]).toMatchObject({ now: 1, least: 0, most: null, members: [] }));

test.each([
  ['4', 2, null, '2 instances will be added.', false],
  ['1', -1, null, '1 instance will be removed.', false],
  ['2', 0, null, 'That is the number of now: nothing would happen.', false],
  ['0', -2, null, '2 instances will be removed.', true],
  ['-1', null, 'Must be a whole number, 0 or more.', '', false],
  ['x', null, 'Must be a whole number, 0 or more.', '', false],
])('a wish for %s of 2 is %s', (text, delta, error, words, isOutOfBounds) =>
  expect(wishOf(text, scalablesOf({}, [node('a')])[0]!)).toEqual({ delta, error, words, isOutOfBounds }),
);

test('more than the most is out of bounds', () => {
  const groups = { g: { properties: { current_instances: 1, max_instances: 2 } } };
  const [group] = scalablesOf(groups, []);
  expect([wishOf('2', group!).isOutOfBounds, wishOf('3', group!).isOutOfBounds]).toEqual([false, true]);
});
