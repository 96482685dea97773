import type { Schemas } from './field-spec';
import { checkValues, readValues } from './language';

const check = async (schema: Schemas[string], value: unknown) =>
  (await checkValues({ x: schema }, {}, { x: value })).x;

test.each([
  [{ in_range: [1, 3] }, 4, 'Must be between 1 and 3.'],
  [{ equal: 1 }, 2, 'Must be 1.'],
  [{ greater_than: 1 }, 1, 'Must be greater than 1.'],
  [{ greater_or_equal: 1 }, 1, undefined],
  [{ less_than: 1 }, 1, 'Must be less than 1.'],
  [{ less_or_equal: 1 }, 2, 'Must be at most 1.'],
  [{ valid_values: [1, 2] }, 3, 'Must be one of: 1, 2.'],
  [
    { in_range: [1, 3], error_message: 'Three machines are all that there is.' },
    4,
    'Three machines are all that there is.',
  ],
])('%o of a number %s', async (constraint, value, result) =>
  expect(await check({ type: 'integer', constraints: [constraint] }, value)).toBe(result),
);

test.each([
  [{ min_length: 2 }, 'a', 'Must have a length of at least 2.'],
  [{ max_length: 1 }, 'ab', 'Must have a length of at most 1.'],
  [{ length: 2 }, 'ab', undefined],
  [{ pattern: 'a+' }, 'b', 'Must begin with a match of the pattern a+'],
  [{ pattern: 'a+' }, 'ab', undefined],
])('%o of a text %s', async (constraint, value, result) =>
  expect(await check({ type: 'string', constraints: [constraint] }, value)).toBe(result),
);

test('items and properties are refused at their places', async () => {
  const schemas: Schemas = {
    ports: { type: 'list', item_type: 'integer', constraints: [{ in_range: [1, 10] }] },
    disk: { type: 'Disk' },
    secret: { type: 'secret_key', constraints: [{ name_pattern: { starts_with: 'a' } }] },
  };
  const dataTypes = {
    Disk: { derived_from: null, properties: { size: { type: 'integer' }, name: { type: 'string' } } },
  };
  const errors = await checkValues(schemas, dataTypes, {
    ports: [1, 'x'],
    disk: { size: 'big', other: 1 },
    // Whether the secret exists is checked only by the manager.
    secret: 'nothing of this name',
  });
  expect(Object.keys(errors).sort()).toEqual(['disk.name', 'disk.other', 'disk.size', 'ports', 'ports[1]']);
});

test('values come as YAML or JSON, with or without inputs around them', () => {
  const schemas = { a: {}, b: {} };
  expect(readValues('a: 1\nb: [x, y]', schemas)).toEqual({ values: { a: 1, b: ['x', 'y'] } });
  expect(readValues('{"a": 1}', schemas)).toEqual({ values: { a: 1 } });
  expect(readValues('inputs: {a: 1}', schemas)).toEqual({ values: { a: 1 } });
  expect(readValues('inputs: {a: 1}', { inputs: {} })).toEqual({ values: { inputs: { a: 1 } } });
  expect(readValues('  ', schemas)).toEqual({ values: {} });
  expect(readValues('- a', schemas)).toEqual({ error: 'Must be names with values, such as port: 8080.' });
  expect(readValues('a: [1', schemas)).toEqual({ error: expect.stringMatching(/^Line \d+, column \d+: /) });
});
