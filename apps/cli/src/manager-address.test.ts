import { managerAddress } from './manager-address';

test.each([
  ['https://lab:8443', 'https://lab:8443'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
  ['lab.example', 'https://lab.example'],
  ['lab:8443', 'https://lab:8443'],
  [' https://LAB ', 'https://lab'],
])('%j is %s', (text, address) => expect(managerAddress(text)).toBe(address));

test.each([
  '',
  'ftp://lab',
  'https://alice:secret@lab',
  'https://lab/path',
  'https://lab/?a=b',
  'https://',
  'a b',
])('%j is refused, without its words', (text) =>
  expect(() => managerAddress(text)).toThrow(
    'the address of the manager: expected one such as https://lab:8443',
  ),
);
