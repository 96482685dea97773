import type { ConfigItem } from '../../api/manager';
import { chosenItems, kindOf, parseValue, valueText } from './config-value';

const kind = (schema: ConfigItem['schema'], value: unknown = null) => kindOf({ schema, value });

test.each([
  [{ type: 'string' }, null, 'text'],
  [{ type: 'string', enum: ['INFO'] }, null, 'choice'],
  [{ type: 'boolean' }, null, 'choice'],
  [{ type: 'integer' }, null, 'integer'],
  [{ type: 'number' }, null, 'number'],
  [null, 'text', 'text'],
  [null, { a: 1 }, 'json'],
  [{ type: 'array' }, null, 'json'],
])('%j of %j is asked for as %s', (schema, value, expected) =>
  expect(kind(schema as ConfigItem['schema'], value).kind).toBe(expected),
);

test('the ends of a number are known', () =>
  expect(kind({ type: 'integer', minimum: 1, maximum: 9 })).toMatchObject({ minimum: 1, maximum: 9 }));

test.each([
  [null, ''],
  ['INFO', 'INFO'],
  [5, '5'],
  [true, 'true'],
  [{ a: 1 }, '{"a":1}'],
])('%j is edited as %j', (value, text) => expect(valueText(value)).toBe(text));

test.each([
  [{ type: 'integer' }, '12', { value: 12 }],
  [{ type: 'integer' }, '1.5', { fault: 'integer' }],
  [{ type: 'number' }, '1.5', { value: 1.5 }],
  [{ type: 'number' }, '', { fault: 'number' }],
  [{ type: 'boolean' }, 'true', { value: true }],
  [{ type: 'boolean' }, 'false', { value: false }],
  [{ enum: ['a', 'b'] }, 'b', { value: 'b' }],
  [{ type: 'string' }, ' x', { value: ' x' }],
  [{ type: 'array' }, '[1]', { value: [1] }],
  [{ type: 'array' }, '[', { fault: 'json' }],
])('%j reads %j', (schema, text, parsed) =>
  expect(parseValue(kind(schema as ConfigItem['schema']), text)).toEqual(parsed),
);

test('values are chosen by scope and by name', () => {
  const items = [
    { scope: 'rest', name: 'ldap_server' },
    { scope: 'agent', name: 'heartbeat' },
  ] as ConfigItem[];
  expect(chosenItems(items, 'rest', undefined)).toHaveLength(1);
  expect(chosenItems(items, undefined, 'HEART')).toHaveLength(1);
  expect(chosenItems(items, undefined, undefined)).toHaveLength(2);
});
