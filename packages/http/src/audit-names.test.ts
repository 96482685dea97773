import { namesIn } from './audit-names';

test('names are kept, and nothing else of a body', () =>
  expect(namesIn({ username: 'vera', password: 'secret', role: 'user' })).toEqual({ username: 'vera' }));

test('a membership has both names', () =>
  expect(namesIn({ tenant_name: 'shops', username: 'vera', role: 'viewer' })).toEqual({
    username: 'vera',
    tenant_name: 'shops',
  }));

test.each([undefined, null, 'text', [], { username: 7 }, { username: 'x'.repeat(257) }])(
  '%j names nothing',
  (body) => expect(namesIn(body)).toEqual({}),
);
