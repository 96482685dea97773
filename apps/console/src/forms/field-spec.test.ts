import { fieldOf, fieldsOf, isFunctionCall, type ValueSchema } from './field-spec';

test.each<[ValueSchema, string, string]>([
  [{ type: 'integer' }, 'integer', 'number'],
  [{ type: 'boolean' }, 'boolean', 'choice'],
  [{ type: 'string', constraints: [{ valid_values: ['a', 'b'] }] }, 'string', 'choice'],
  [{ default: [1] }, 'list', 'json'],
  [{ default: { a: 1 } }, 'dict', 'json'],
  [{ default: 1.5 }, 'float', 'number'],
  [{ default: 'x' }, 'string', 'text'],
  [{ type: 'textarea', display: { rows: 9 } }, 'textarea', 'area'],
  [{ type: 'regex' }, 'regex', 'text'],
  [{ type: 'deployment_id' }, 'deployment_id', 'pick'],
  [{ type: 'list', item_type: 'node_id' }, 'list', 'list'],
  [{ type: 'my.types.Unknown' }, 'my.types.Unknown', 'json'],
  [{}, 'any', 'text'],
])('%o is %s, %s', (schema, type, control) => expect(fieldOf('x', schema)).toMatchObject({ type, control }));

test('a field is required without a default, unless the schema says otherwise', () => {
  expect([
    fieldOf('x', {}).isRequired,
    fieldOf('x', { default: 0 }).isRequired,
    fieldOf('x', { required: false }).isRequired,
    // A default of null counts as a default for a workflow's parameter, but not for an input.
    fieldOf('x', { default: null }).isRequired,
    fieldOf('x', { default: null }, { isParameter: true }).isRequired,
  ]).toEqual([true, false, false, true, false]);
});

test('a default that is computed is no value, and makes the field optional', () =>
  expect(fieldOf('x', { default: { get_input: 'a' }, type: 'string' })).toMatchObject({
    default: undefined,
    isComputed: true,
    isRequired: false,
  }));

test('properties of a data type are fields below it, also within each other', () => {
  const dataTypes = {
    Disk: { properties: { size: { type: 'integer', default: 10 }, kind: { type: 'Kind' } } },
    Kind: { properties: { name: { type: 'string' } } },
    Empty: { properties: null },
  };
  const [disk, empty] = fieldsOf({ disk: { type: 'Disk' }, empty: { type: 'Empty' } }, { dataTypes });
  expect(disk).toMatchObject({
    control: 'parts',
    parts: [
      { name: 'size', control: 'number', default: 10 },
      { name: 'kind', control: 'parts', parts: [{ name: 'name', control: 'text' }] },
    ],
  });
  expect(empty).toMatchObject({ control: 'json' });
});

test('the constraints of a list with a type of its items are those of each item', () =>
  expect(
    fieldOf('x', { type: 'list', item_type: 'string', constraints: [{ valid_values: ['a'] }] }),
  ).toMatchObject({ control: 'list', item: { control: 'choice', choices: [{ text: 'a', value: 'a' }] } }));

test.each([
  [{ get_input: 'a' }, true],
  [{ concat: ['a', 'b'] }, true],
  [{ get_input: 'a', type: 'string' }, true],
  [{ type: 'string' }, false],
  [{ get_input: 'a', other: 1 }, false],
  ['get_input', false],
])('%o is computed: %s', (value, expected) => expect(isFunctionCall(value)).toBe(expected));
