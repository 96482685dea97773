import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { compileRoutes } from './route-table';

const route = (
  id: string,
  method: RouteContract['method'],
  path: string,
  more: Partial<RouteContract> = {},
): RouteContract => ({
  id,
  method,
  path,
  owner: 'catalog',
  permission: 'login',
  tenant: 'required',
  versions: ['v3.1'],
  summary: '',
  spec: '',
  status: 200,
  ...more,
});
const table = compileRoutes([
  route('list', 'GET', '/things'),
  route('get', 'GET', '/things/:id'),
  route('make', 'POST', '/things/:name'),
  route('special', 'PUT', '/things/special'),
  route('files', 'GET', '/files/:id/*'),
  route('old', 'GET', '/things', { id: 'old', versions: ['v2.1'] }),
  route('tenant', 'GET', '/tenants/:tenant_name'),
]);
const idOf = (method: string, path: string, version: 'v3.1' | 'v2.1' = 'v3.1'): string => {
  const match = table.match(version, method, path);
  return match.kind === 'route'
    ? match.route.contract.id
    : match.kind === 'method'
      ? match.allowed.join(',')
      : 'none';
};

test.each([
  ['GET', '/things', 'list'],
  ['HEAD', '/things', 'list'],
  ['GET', '/things/a', 'get'],
  ['GET', '/things/special', 'get'],
  ['PUT', '/things/special', 'special'],
  ['POST', '/things/special', 'make'],
  ['GET', '/things/a%2Fb', 'get'],
  ['GET', '/files/a/b/c.txt', 'files'],
  ['GET', '/files/a/b//c.txt', 'files'],
  ['DELETE', '/things', 'GET,HEAD,OPTIONS'],
  ['PUT', '/things/a', 'GET,HEAD,OPTIONS,POST'],
  ['PATCH', '/things/special', 'GET,HEAD,OPTIONS,POST,PUT'],
  ['GET', '/', 'none'],
  ['GET', '/things/', 'none'],
  ['GET', '//things', 'none'],
  ['GET', '/things//a', 'none'],
  ['GET', '/nosuch', 'none'],
  ['GET', '/things/a/b', 'none'],
  ['GET', '/constructor', 'none'],
])('%s %s is %s', (method, path, expected) => expect(idOf(method, path)).toBe(expected));

test('each version has its own routes', () => {
  expect(idOf('GET', '/things', 'v2.1')).toBe('old');
  expect(idOf('GET', '/things/a', 'v2.1')).toBe('none');
});

test('a path parameter called tenant_name is the tenant', () => {
  const match = table.match('v3.1', 'GET', '/tenants/t1');
  expect(match.kind === 'route' && match.segments[match.route.tenantSegment]).toBe('t1');
});

test('two routes on one path and method are refused', () => {
  expect(() => compileRoutes([route('a', 'GET', '/x/:y'), route('b', 'GET', '/x/:z')])).toThrow('a and b');
});

test('every contract is found under each of its versions', () => {
  const whole = compileRoutes(allRoutes);
  for (const contract of allRoutes) {
    for (const version of contract.versions) {
      const path = contract.path.replace(/:\w+/g, 'x1').replace('*', 'rest/of/it');
      const match = whole.match(version, contract.method, path);
      expect(match.kind === 'route' && match.route.contract.id).toBe(contract.id);
    }
  }
});
