import { addressesOf, networksOf, readNetworks } from './networks';

test('reads names with one or more addresses', () => {
  const pairs = readNetworks(' dmz=https://a:1/ , lab=http://b,dmz=https://c');
  expect(pairs).toEqual([
    ['dmz', 'https://a:1/'],
    ['lab', 'http://b'],
    ['dmz', 'https://c'],
  ]);
  const networks = networksOf('https://manager/', pairs as [string, string][]);
  expect(addressesOf(networks, 'dmz')).toEqual(['https://a:1', 'https://c']);
  expect(addressesOf(networks, 'default')).toEqual(['https://manager']);
});

test('the network `default` may have addresses of its own', () => {
  expect(addressesOf(networksOf('https://m', [['default', 'https://d']]), 'default')).toEqual(['https://d']);
  expect(readNetworks('')).toEqual([]);
});

test.each([
  'dmz',
  '=https://a',
  'dmz=ftp://a',
  'dmz=a',
  'dmz=https://user@a',
  'dmz=https://a?x',
  'dmz=https://a#x',
])('refuses %s', (text) => expect(readNetworks(text)).toContain(`${text}: must be name=address`));

test('an unknown network is told with the nearest name', () => {
  const networks = networksOf('https://m', [['dmz', 'https://d']]);
  expect(() => addressesOf(networks, 'dnz')).toThrow('There is no network `dnz`');
});
