import { labelErrors, labelsToSend } from './label-drafts';

test('labels are sent in the form of the API, without empty rows', () =>
  expect(
    labelsToSend([
      { key: ' env ', value: 'prod' },
      { key: '', value: ' ' },
      { key: 'env', value: 'test' },
    ]),
  ).toEqual([{ env: 'prod' }, { env: 'test' }]));

test('what is wrong is said by its row', () => {
  const drafts = [
    { key: '1st', value: 'a' },
    { key: 'a', value: 'b' },
    { key: 'A', value: 'b' },
    { key: 'c', value: 'x'.repeat(257) },
    { key: '', value: 'no key' },
    { key: '', value: '' },
  ];
  expect(Object.keys(labelErrors(drafts))).toEqual(['0', '2', '3', '4']);
});
