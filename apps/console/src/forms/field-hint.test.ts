import { hintOf } from './field-hint';
import { fieldOf, type ValueSchema } from './field-spec';

test.each<[ValueSchema, string]>([
  [
    { type: 'integer', description: 'Port of it. ', constraints: [{ in_range: [1, 9] }] },
    'Port of it. · whole number · 1 to 9',
  ],
  [
    { type: 'string', constraints: [{ min_length: 2 }, { max_length: 4 }] },
    'text · length at least 2 · length at most 4',
  ],
  [{ type: 'boolean' }, ''],
  [{ type: 'list' }, 'list, as JSON'],
  [{ type: 'my.Type' }, 'my.Type, as JSON'],
  [{ type: 'string', default: { get_secret: 'a' } }, 'text · Left empty, the manager computes it.'],
  // Only the manager can compute the limit.
  [{ type: 'integer', constraints: [{ less_than: { get_input: 'a' } }] }, 'whole number'],
])('%o says %s', (schema, hint) => expect(hintOf(fieldOf('x', schema))).toBe(hint));
