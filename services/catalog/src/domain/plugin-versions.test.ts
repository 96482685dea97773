import { chooseVersions, pluginsInUse } from './plugin-versions';

const current = new Map([
  ['aws', '2.1.0'],
  ['k8s', '1.0'],
]);
const installed = new Map([
  ['aws', ['2.1.0', '2.10.1', '3.0.0', '2.9.0']],
  ['k8s', ['1.0', '1.1']],
]);
const choose = (selection: Parameters<typeof chooseVersions>[2]) =>
  [...chooseVersions(current, installed, selection)]
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');

test.each([
  ['nothing chosen', {}, 'aws 3.0.0, k8s 1.1'],
  ['all to the latest', { all_to_latest: true }, 'aws 3.0.0, k8s 1.1'],
  ['only some', { plugin_names: ['k8s'] }, 'aws 2.1.0, k8s 1.1'],
  ['all within their major version', { all_to_minor: true }, 'aws 2.10.1, k8s 1.1'],
  ['some to the latest', { to_latest: ['aws'] }, 'aws 3.0.0, k8s 1.0'],
  ['some within their major version', { to_minor: ['aws'] }, 'aws 2.10.1, k8s 1.0'],
  ['the latest but some', { all_to_latest: true, to_minor: ['aws'] }, 'aws 2.10.1, k8s 1.1'],
  ['a version by name', { mapping: { aws: '2.9.0' } }, 'aws 2.9.0, k8s 1.0'],
  ['nothing at all', { all_to_latest: false }, 'aws 2.1.0, k8s 1.0'],
])('%s', (_what, selection, versions) => {
  expect(choose(selection)).toBe(versions);
});

test.each([
  ['a version that is not there', { mapping: { aws: '9.9' } }, 'mapping.aws'],
  ['a plugin that is not used', { to_latest: ['azure'] }, 'to_latest'],
  ['a name that is not used', { plugin_names: ['k9s'] }, 'plugin_names'],
])('refuses %s', (_what, selection, field) => {
  expect(() => choose(selection)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field }) }),
  );
});

test('a package that is not installed any more keeps its version', () => {
  const used = pluginsInUse([
    { kind: 'plugin', name: 'gone', version: '1' },
    { kind: 'blueprint', name: 'b', version: '' },
  ]);
  expect([...chooseVersions(used, new Map(), {})]).toEqual([['gone', '1']]);
});
