import { placeOf, readPlace } from './site-place';

test.each([
  ['52.5', '13.4', '52.5, 13.4'],
  [' -33,9 ', '+18', '-33.9, 18'],
  ['', ' ', ''],
  ['90', '-180', '90, -180'],
])('%s and %s are %s', (latitude, longitude, location) =>
  expect(readPlace({ latitude, longitude })).toEqual({ errors: {}, location }),
);

test.each([
  ['91', '0', ['latitude']],
  ['0', '181', ['longitude']],
  ['0', '', ['longitude']],
  ['north', 'x', ['latitude', 'longitude']],
])('%s and %s are refused at %j', (latitude, longitude, fields) =>
  expect(Object.keys(readPlace({ latitude, longitude }).errors)).toEqual(fields),
);

test('a site without a place has empty fields', () => {
  expect(placeOf({ latitude: null, longitude: null })).toEqual({ latitude: '', longitude: '' });
  expect(placeOf({ latitude: 0, longitude: -1.5 })).toEqual({ latitude: '0', longitude: '-1.5' });
});
