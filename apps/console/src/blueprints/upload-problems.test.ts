import { uploadProblems } from './upload-problems';

test('a line has its place, its message and the nearest name', () =>
  expect(
    uploadProblems(
      'sub/blueprint.yaml:12:5: error: there is no node type "a.B" - did you mean "a.C"?\nblueprint: warning: odd',
    ),
  ).toEqual([
    {
      severity: 'error',
      message: 'there is no node type "a.B"',
      file: 'sub/blueprint.yaml',
      line: 12,
      column: 5,
      nearest: 'a.C',
    },
    { severity: 'warning', message: 'odd', file: null, line: null, column: null, nearest: null },
  ]));

test('a message of several lines is one', () =>
  expect(uploadProblems('a.yaml:1:1: error: first\nsecond').map(({ message }) => message)).toEqual([
    'first\nsecond',
  ]));

test('a text that lists nothing is no problem of a file', () => {
  expect(uploadProblems('Failed to fetch the archive - it is gone')).toEqual([]);
  expect(uploadProblems(null)).toEqual([]);
});
