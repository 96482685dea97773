import { entriesOf, parserFiles, pathProblem, projectOf, renamed, without, withText } from './project';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const project = projectOf('blueprint.yaml', [
  { path: 'blueprint.yaml', bytes: bytes('inputs: {}'), mode: 0o644 },
  { path: 'scripts/start.sh', bytes: bytes('#!/bin/sh'), mode: 0o755 },
  { path: 'logo.png', bytes: new Uint8Array([137, 0, 255]), mode: 0o644 },
]);

test('what is read is written again, with its rights', () =>
  expect(entriesOf(project)).toEqual([
    { path: 'blueprint.yaml', bytes: bytes('inputs: {}'), mode: 0o644 },
    { path: 'scripts/start.sh', bytes: bytes('#!/bin/sh'), mode: 0o755 },
    { path: 'logo.png', bytes: new Uint8Array([137, 0, 255]), mode: 0o644 },
  ]));

test('a change of text keeps the rights; the same text is no change', () => {
  expect(withText(project, 'scripts/start.sh', 'exit 1').files.get('scripts/start.sh')).toEqual({
    text: 'exit 1',
    bytes: null,
    mode: 0o755,
  });
  expect(withText(project, 'blueprint.yaml', 'inputs: {}')).toBe(project);
});

test('the main file may be renamed, others may go', () => {
  expect(renamed(project, 'blueprint.yaml', 'main.yaml').mainFile).toBe('main.yaml');
  expect([...renamed(project, 'blueprint.yaml', 'main.yaml').files.keys()][0]).toBe('main.yaml');
  expect(without(project, 'logo.png').files.has('logo.png')).toBe(false);
});

test.each([
  ['', 'empty'],
  ['folder/', 'empty'],
  ['a\u202eb', 'characters'],
  ['a\\b', 'characters'],
  ['../up', 'outside'],
  ['/root', 'outside'],
  ['a//b', 'outside'],
  ['blueprint.yaml', 'taken'],
  ['blueprint.yaml. ', 'taken'],
  ['Blueprint.yaml', null],
  ['scripts', 'taken'],
  ['blueprint.yaml/x', 'taken'],
  ['scripts/stop.sh', null],
])('the path %j: %s', (path, problem) => expect(pathProblem(path, project)).toBe(problem));

test('the parser reads YAML and knows of the rest', () => {
  const { paths, texts } = parserFiles(withText(project, '__proto__.yaml', 'a: 1'));
  expect(paths).toHaveLength(4);
  expect(Object.keys(texts)).toEqual(['blueprint.yaml', '__proto__.yaml']);
});
