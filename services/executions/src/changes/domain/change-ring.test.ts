import { ChangeRing, type KnownChange } from './change-ring';

const change = (id: string, operation: KnownChange['operation'] = 'changed'): KnownChange => ({
  kind: 'deployments',
  id,
  tenant: 't',
  operation,
  createdBy: 'ann',
  visibility: 'tenant',
  more: {},
});

function ringOf(capacity: number) {
  let epochs = 0;
  return new ChangeRing(() => `e${++epochs}`, capacity);
}
const all = () => true;
const read = (ring: ChangeRing, position: number, limit = 100) =>
  ring
    .after(position, all, limit)
    ?.changes.map((one) => `${one.position} ${one.change.operation} ${one.change.id}`);

test('a reader gets what lies behind its position, each resource once, as it is now', () => {
  const ring = ringOf(10);
  for (const id of ['a', 'b', 'a', 'c']) ring.push(change(id));
  expect(read(ring, 0)).toEqual(['2 changed b', '3 changed a', '4 changed c']);
  expect(read(ring, 3)).toEqual(['4 changed c']);
  expect(read(ring, 4)).toEqual([]);
});

test('what was made is told as made to those who have not heard so', () => {
  const ring = ringOf(10);
  ring.push(change('a', 'created'));
  ring.push(change('a'));
  expect(read(ring, 0)).toEqual(['2 created a']);
  expect(read(ring, 1)).toEqual(['2 changed a']);
  ring.push(change('a', 'deleted'));
  expect(read(ring, 0)).toEqual(['3 deleted a']);
  ring.push(change('a'));
  expect(read(ring, 0)).toEqual(['4 changed a']);
});

test('in pages, and without what does not fit, whose place is passed', () => {
  const ring = ringOf(10);
  for (const id of ['a', 'b', 'c', 'd']) ring.push(change(id));
  const first = ring.after(0, ({ id }) => id !== 'b', 2)!;
  expect(first.changes.map((one) => one.change.id)).toEqual(['a', 'c']);
  expect(first.position).toBe(3);
  expect(ring.after(3, ({ id }) => id === 'a', 2)).toEqual({ changes: [], position: 4 });
});

test('whoever is behind what has left the ring has missed something', () => {
  const ring = ringOf(3);
  for (let i = 1; i <= 100; i++) ring.push(change(`d${i}`));
  expect(read(ring, 97)).toEqual(['98 changed d98', '99 changed d99', '100 changed d100']);
  expect(ring.after(96, all, 10)).toBeNull();
  expect(ring.positionOf('e1-97')).toBe(97);
  expect(ring.positionOf('e1-96')).toBeNull();
  expect(ring.latestOf(change('d97'))).toBeNull();
  expect(ring.latestOf(change('d98'))).toEqual(change('d98'));
});

test('changes of the same resource over and over push nothing out', () => {
  const ring = ringOf(3);
  for (let i = 0; i < 50; i++) for (const id of ['a', 'b', 'c']) ring.push(change(id));
  expect(read(ring, 0)).toEqual(['148 changed a', '149 changed b', '150 changed c']);
  expect(ring.positionOf('e1-0')).toBe(0);
});

test('ids are of one epoch', () => {
  const ring = ringOf(3);
  ring.push(change('a'));
  const id = ring.idOf(ring.head);
  expect(ring.positionOf(id)).toBe(1);
  for (const strange of [
    '',
    'e1',
    'e1-',
    'e1-2',
    'e2-1',
    'e1--1',
    '1',
    "e1-1'; drop",
    'e1-99999999999999999',
  ])
    expect(ring.positionOf(strange)).toBeNull();
  ring.renew();
  expect(ring.positionOf(id)).toBeNull();
  expect(ring.after(1, all, 10)).toBeNull();
  expect(read(ring, ring.head)).toEqual([]);
  expect(ring.positionOf(ring.idOf(ring.head))).toBe(2);
});
