import { defineFormat, isAppError, requireFormat } from './index';

const format = defineFormat('task graph', 1, [1, 2]);

test('a document without a number has number 1', () => {
  expect([undefined, null, 1, 2].map((found) => requireFormat(format, found, 'graph g'))).toEqual([
    1, 1, 1, 2,
  ]);
});

test.each([0, 3, '1', true])(
  'the number %p is refused, and the error says what, where and what is read',
  (found) => {
    const read = () => requireFormat(format, found, 'graph g');
    expect(read).toThrow(
      `graph g: format ${JSON.stringify(found)} of a task graph is unknown here; this release reads 1, 2`,
    );
    try {
      read();
    } catch (error) {
      expect(isAppError(error, 'internal_server_error')).toBe(true);
    }
  },
);

test('what is written must be read', () => {
  expect(() => defineFormat('task graph', 2, [1])).toThrow('format 2');
});
