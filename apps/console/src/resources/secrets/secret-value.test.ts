import { readSchema, readValue, valueFormOf } from './secret-value';

const FLAT = {
  type: 'object',
  properties: {
    host: { type: 'string', title: 'Host name' },
    port: { type: 'integer' },
    isSecure: { type: 'boolean' },
    mode: { type: 'string', enum: ['a', 'b'] },
  },
  required: ['host'],
};

test('without a schema a value is a text that is not empty', () => {
  const form = valueFormOf(null);
  expect(form).toEqual({ kind: 'text' });
  expect(readValue(form, { value: ' x ' })).toEqual({ errors: {}, value: ' x ' });
  expect(Object.keys(readValue(form, {}).errors)).toEqual(['value']);
});

test('a flat schema has a field for each property', () => {
  const form = valueFormOf(FLAT);
  expect(form.kind === 'fields' && form.fields.map(({ label, isRequired }) => [label, isRequired])).toEqual([
    ['Host name', true],
    ['port', false],
    ['isSecure', false],
    ['mode', false],
  ]);
  const texts = { host: 'h', port: '80', isSecure: 'false', mode: 'b' };
  expect(readValue(form, texts)).toEqual({
    errors: {},
    value: { host: 'h', port: 80, isSecure: false, mode: 'b' },
  });
});

test('what fits no type is said at its field', () => {
  expect(Object.keys(readValue(valueFormOf(FLAT), { port: '8.5', isSecure: 'yes' }).errors)).toEqual([
    'host',
    'port',
    'isSecure',
  ]);
});

test.each([
  [{ type: 'array' }],
  [{ type: 'object' }],
  [{ type: 'object', properties: { deep: { type: 'object' } } }],
  [{}],
])('%j is entered as JSON', (schema) => {
  const form = valueFormOf(schema);
  expect(form).toEqual({ kind: 'json' });
  expect(readValue(form, { value: '[1]' })).toEqual({ errors: {}, value: [1] });
});

test('a fault in JSON repeats nothing of the text', () => {
  const { errors } = readValue({ kind: 'json' }, { value: 'hunter2' });
  expect(JSON.stringify(errors)).not.toContain('hunter2');
});

test('a schema is an object', () => {
  expect(readSchema('{"type":"string"}')).toEqual({ errors: {}, schema: { type: 'string' } });
  expect(Object.keys(readSchema('[]').errors)).toEqual(['schema']);
  expect(Object.keys(readSchema('{').errors)).toEqual(['schema']);
});
