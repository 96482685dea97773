import { flagsOf, readUpdateSearch } from './update-search';

test('flags of the address are those of the request', () => {
  const search = readUpdateSearch({
    skip_install: 'true',
    update_plugins: 'false',
    blueprint_id: 'b',
    evil: 'x',
  });
  expect(search).toMatchObject({ skip_install: true, update_plugins: 'false', blueprint_id: 'b' });
  expect(search).not.toHaveProperty('evil');
  expect(flagsOf(search)).toEqual({ skip_install: true, update_plugins: false });
  expect(flagsOf(readUpdateSearch({ update_plugins: 'true', force: 'no' }))).toEqual({});
});
