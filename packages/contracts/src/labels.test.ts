import { parseLabels, parseLabelsText } from './labels';

const pairs = (result: ReturnType<typeof parseLabels>) =>
  result.ok ? result.value.map((l) => `${l.key}=${l.value}`) : result.error;

it('reads both shapes of a request, lower-cases keys, normalises values', () => {
  expect(
    pairs(
      parseLabels([{ Env: ['a', 'b'] }, { key: 'Mixed', value: 'CaSe', created_at: 'x' }, { wide: 'Ａ' }]),
    ),
  ).toEqual(['env=a', 'env=b', 'mixed=CaSe', 'wide=A']);
  // A single pair: a label whose key is "key".
  expect(pairs(parseLabels([{ key: 'x' }]))).toEqual(['key=x']);
});

it('reads the text of a query with its escapes', () => {
  expect(pairs(parseLabelsText('env=prod,path=a\\=b\\,c,empty='))).toEqual([
    'env=prod',
    'path=a=b,c',
    'empty=',
  ]);
  expect(pairs(parseLabelsText(' '))).toEqual([]);
  expect(pairs(parseLabelsText('env=a,rubbish'))).toMatchObject({
    field: 'labels',
    expected: '<key1>=<val1>,<key2>=<val2>',
  });
});

it('names the place and the likely key of a fault', () => {
  expect(pairs(parseLabels([{ a: 'b' }, { 'csys-obj-typ': 'x' }]))).toMatchObject({
    field: 'labels[1]',
    nearest: 'csys-obj-type',
  });
  expect(pairs(parseLabels([{ a: 'b' }, { A: 'b' }]))).toMatchObject({
    field: 'labels[1]',
    message: expect.stringContaining('twice'),
  });
});
