import type { RouteContract } from '@baton/contracts';
import { z } from 'zod';
import { compileRoute } from './compile-route';

const contract: RouteContract = {
  owner: 'catalog',
  permission: 'blueprint_list',
  tenant: 'required',
  versions: ['v3.1'],
  summary: '',
  spec: '',
  id: 'putThing',
  method: 'PUT',
  path: '/things/:id',
  status: 200,
  body: z.object({
    name: z.string(),
    size: z.number().optional(),
    visibility: z.enum(['private', 'tenant']).default('tenant'),
    note: z.string().nullish(),
  }),
};
const parser = (changes: Partial<RouteContract> = {}) =>
  compileRoute({ contract: { ...contract, ...changes }, handler: () => null }, 'v3.1', 'spec').parseBody;

test('a null reads as absent where the key may be absent and knows no null', () => {
  const parse = parser();
  expect(parse({ name: 'a', size: null, visibility: null, note: null })).toEqual({
    name: 'a',
    visibility: 'tenant',
    note: null,
  });
  expect(() => parse({ name: null })).toThrow('Invalid body `name`');
});

test('a route may refuse it', () => {
  const parse = parser({ isNullRefused: true });
  expect(() => parse({ name: 'a', size: null })).toThrow('Invalid body `size`');
  expect(parse({ name: 'a', note: null })).toEqual({ name: 'a', visibility: 'tenant', note: null });
});

test('a strict query refuses names that it does not know, another one passes them over', () => {
  const parserOf = (query: z.ZodType) =>
    compileRoute({ contract: { ...contract, query }, handler: () => null }, 'v3.1', 'spec').parseQuery;
  const at = { at: z.string().optional(), of: z.array(z.string()).optional() };
  expect(parserOf(z.object(at))({ At: '1', at: '2' })).toEqual({ at: '2' });
  expect(parserOf(z.strictObject(at))({ at: ['1', '2'], of: 'a' })).toEqual({ at: '1', of: ['a'] });
  expect(() => parserOf(z.strictObject(at))({ att: '1' })).toThrow('did you mean `at`');
});
