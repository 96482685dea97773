import { objectOf, pairFaults, pairsOf } from './pairs';

const texts = { missing: 'missing', twice: 'twice' };

test('rows and objects are each other, without empty rows', () => {
  expect(objectOf(pairsOf({ a: '1', b: '' }))).toEqual({ a: '1', b: '' });
  expect(
    objectOf([
      [' a ', ' 1'],
      ['', ''],
    ]),
  ).toEqual({ a: ' 1' });
});

test('a row without a name, and a name that stands twice, are told by their index', () => {
  expect(
    pairFaults(
      [
        ['a', '1'],
        ['', '2'],
        ['', ''],
        ['a', ''],
      ],
      texts,
    ),
  ).toEqual({ 1: 'missing', 3: 'twice' });
  expect(pairFaults([['a', '1']], texts)).toEqual({});
});
