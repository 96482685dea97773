import { archivePlace } from './archive-place';

const place = (path: string) => archivePlace(path, 'mine', 'parent');

test.each([
  ['parts/child.zip', { kind: 'unpacked', blueprintId: 'parent', path: 'parts/child.zip' }],
  ['./parts/../child/', { kind: 'unpacked', blueprintId: 'parent', path: 'child' }],
  ['/etc/passwd', { kind: 'unpacked', blueprintId: 'parent', path: 'etc/passwd' }],
  ['../other/child.zip', { kind: 'unpacked', blueprintId: 'other', path: 'child.zip' }],
  [
    '../../../uploaded-blueprints/mine/net/net.tar.gz',
    { kind: 'uploaded', blueprintId: 'net', fileName: 'net.tar.gz' },
  ],
])('%s leads to a blueprint of the tenant', (path, expected) => expect(place(path)).toEqual(expected));

test.each([
  '../../../uploaded-blueprints/theirs/net/net.tar.gz',
  '../../theirs/net/child.zip',
  '../../../blueprints/theirs/net/child.zip',
  '../../../deployments/mine/d/secret.zip',
  '../../../tenant-resources/mine/a/b.zip',
  '../../../uploaded-blueprints/mine/net/net.tar.gz/inside',
  '../../../uploaded-blueprints/mine/net',
  '../../../../uploaded-blueprints/mine/net/net.tar.gz',
  '../../../../../etc/passwd',
  '..\\..\\..\\uploaded-blueprints\\mine\\net\\net.tar.gz',
  '../../../uploaded-blueprints/../uploaded-blueprints/theirs/net/net.zip',
  '..',
  '../other',
  '',
])('%j leads elsewhere', (path) => expect(place(path)).toBeNull());

test('encoded dots are a name, not a way up', () => {
  const encoded = '%2e%2e/%2e%2e/x.zip';
  expect(place(encoded)).toEqual({ kind: 'unpacked', blueprintId: 'parent', path: encoded });
});
