import { leadsTo, treeOf } from './file-tree';

test('paths become folders and files, folders with their folders', () => {
  const tree = treeOf(['scripts/start.sh', 'blueprint.yaml', 'scripts/db/up.sql', 'a.yaml']);
  expect(tree.files.map(({ name }) => name)).toEqual(['a.yaml', 'blueprint.yaml']);
  expect(tree.folders.map(({ path }) => path)).toEqual(['scripts/']);
  expect(tree.folders[0]!.folders[0]).toEqual({
    name: 'db',
    path: 'scripts/db/',
    folders: [],
    files: [{ name: 'up.sql', path: 'scripts/db/up.sql' }],
  });
});

test('names of a stranger are only names', () => {
  const tree = treeOf(['__proto__/constructor', '<img src=x>', 'a//b']);
  expect(tree.folders.map(({ name }) => name)).toContain('__proto__');
  expect(tree.files.map(({ name }) => name)).toEqual(['<img src=x>']);
});

test('many files in many folders take little time', () =>
  expect(
    treeOf(Array.from({ length: 10_000 }, (_, i) => `f${i % 100}/g${i % 7}/x${i}`)).folders,
  ).toHaveLength(100));

test.each([
  ['a/', 'a/b.yaml', true],
  ['a/', 'ab.yaml', false],
  ['a/', undefined, false],
])('the folder %s leads to %s: %s', (folder, path, leads) => expect(leadsTo(folder, path)).toBe(leads));
