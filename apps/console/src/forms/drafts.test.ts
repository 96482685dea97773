import { draftOf, draftsOf, readDrafts } from './drafts';
import { type DataTypes, fieldOf, fieldsOf, type ValueSchema } from './field-spec';

const read = (schema: ValueSchema, text: string) => {
  const { values, errors } = readDrafts([fieldOf('x', schema)], { x: text });
  return errors.x ?? values.x;
};

test.each<[ValueSchema, string, unknown]>([
  [{ type: 'integer' }, ' 12 ', 12],
  [{ type: 'integer' }, '1.5', 'Must be a whole number.'],
  [{ type: 'float' }, '1.5', 1.5],
  [{ type: 'float' }, 'x', 'Must be a number.'],
  [{ type: 'boolean' }, 'false', false],
  [{ type: 'string' }, ' a ', ' a '],
  [{ type: 'string' }, '22', '22'],
  [{}, '22', 22],
  [{}, 'plain', 'plain'],
  [{ type: 'list' }, '["a"]', ['a']],
  [{ type: 'list' }, '{}', 'Must be a JSON list, such as ["a", "b"].'],
  [{ type: 'dict' }, '[]', 'Must be a JSON object, such as {"a": 1}.'],
  [{ type: 'dict' }, '{', 'Must be valid JSON.'],
  [{ type: 'textarea' }, 'a\nb', 'a\nb'],
  [{ type: 'deployment_id' }, 'web', 'web'],
  [{ constraints: [{ valid_values: [1, 2] }] }, '2', 2],
  [{ constraints: [{ valid_values: [1, 2] }] }, '3', 'Must be one of: 1, 2.'],
  [{ type: 'integer' }, '', 'A value is needed.'],
  [{ type: 'integer', required: false }, '', undefined],
  [{ type: 'string', default: 'x' }, '', ''],
])('%o reads %s', (schema, text, result) => expect(read(schema, text)).toEqual(result));

test('what equals its default is not sent, and what is not written is left out', () => {
  const fields = fieldsOf({
    a: { default: 1 },
    b: { type: 'string' },
    c: { required: false },
    d: { default: { get_secret: 'x' } },
  });
  expect(draftsOf(fields)).toEqual({ a: '1', b: undefined, c: undefined, d: undefined });
  expect(readDrafts(fields, draftsOf(fields))).toEqual({ values: {}, errors: { b: 'A value is needed.' } });
  expect(readDrafts(fields, { a: '2', b: 'x' })).toEqual({ values: { a: 2, b: 'x' }, errors: {} });
});

test('items of a list are read each, and an empty one is said at its place', () => {
  const fields = fieldsOf({ ports: { type: 'list', item_type: 'integer' } });
  expect(readDrafts(fields, { ports: ['1', '2'] })).toEqual({ values: { ports: [1, 2] }, errors: {} });
  expect(readDrafts(fields, { ports: [] }).values).toEqual({ ports: [] });
  expect(readDrafts(fields, { ports: ['1', undefined, 'x'] }).errors).toEqual({
    'ports[1]': 'A value is needed.',
    'ports[2]': 'Must be a whole number.',
  });
});

const dataTypes: DataTypes = {
  Disk: { properties: { size: { type: 'integer', default: 10 }, name: { type: 'string' } } },
};

test('properties of a data type are read by their fields', () => {
  const fields = fieldsOf({ disk: { type: 'Disk' } }, { dataTypes });
  expect(readDrafts(fields, { disk: { size: '20', name: 'a' } }).values).toEqual({
    disk: { size: 20, name: 'a' },
  });
  expect(readDrafts(fields, { disk: { size: '20' } }).errors).toEqual({ 'disk.name': 'A value is needed.' });
});

test('a data type that is needed takes the defaults of its properties', () => {
  const types = { Full: { properties: { size: { type: 'integer', default: 10 } } }, ...dataTypes };
  expect(readDrafts(fieldsOf({ d: { type: 'Full' } }, { dataTypes: types }), {})).toEqual({
    values: { d: {} },
    errors: {},
  });
  expect(readDrafts(fieldsOf({ d: { type: 'Disk' } }, { dataTypes }), {}).errors).toEqual({
    'd.name': 'A value is needed.',
  });
  const withDefault = fieldsOf({ d: { type: 'Disk', default: { name: 'a' } } }, { dataTypes });
  expect(readDrafts(withDefault, {})).toEqual({ values: {}, errors: {} });
});

test('a data type that is not needed and not written is left out', () => {
  const fields = fieldsOf({ disk: { type: 'Disk', required: false } }, { dataTypes });
  expect(readDrafts(fields, { disk: { size: undefined, name: '' } })).toEqual({ values: {}, errors: {} });
});

test('values become drafts and the same values again', () => {
  const fields = fieldsOf(
    {
      n: { type: 'integer' },
      l: { type: 'list', item_type: 'string' },
      d: { type: 'Disk' },
      j: { type: 'dict' },
    },
    { dataTypes },
  );
  const values = { n: 3, l: ['a'], d: { size: 1, name: 'x' }, j: { a: [1] } };
  expect(readDrafts(fields, draftsOf(fields, values))).toEqual({ values, errors: {} });
});

test('what does not fit its field is shown as JSON and kept', () => {
  const [list, disk] = fieldsOf(
    { l: { type: 'list', item_type: 'string' }, d: { type: 'Disk' } },
    { dataTypes },
  );
  expect(draftOf(list!, { a: 1 })).toBe('{\n "a": 1\n}');
  expect(draftOf(disk!, { other: 1 })).toBe('{\n "other": 1\n}');
  expect(readDrafts([disk!], { d: '{"other": 1}' }).values).toEqual({ d: { other: 1 } });
});
