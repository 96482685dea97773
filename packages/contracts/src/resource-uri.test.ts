import { parseResourceUri } from './resource-uri';

test.each([
  ['/resources/blueprints/t1/b1/scripts/a.sh', 'blueprints', 't1', ['b1', 'scripts', 'a.sh']],
  ['/resources/blueprints/t1/b1/?x=1', 'blueprints', 't1', ['b1', '']],
  ['/api/v3.1/resources/deployments/t1/d%20x/f', 'deployments', 't1', ['d x', 'f']],
  ['/resources/tenant-resources/t1/a', 'tenant-resources', 't1', ['a']],
  ['/resources/global-resources/a/b', 'global-resources', '', ['a', 'b']],
  ['/resources/plugins/id/plugin.yaml', 'plugins', '', ['id', 'plugin.yaml']],
])('%s', (uri, root, tenant, rest) => expect(parseResourceUri(uri)).toEqual({ root, tenant, rest }));

test.each([
  '',
  '/',
  '/resources',
  '/resources/',
  '/resources/blueprints',
  '/resources/blueprints/',
  '/resources/blueprints/mine/../other/b/x',
  '/resources/blueprints/mine/%2e%2e/other/b/x',
  '/resources/blueprints/mine%2f..%2fother/b/x',
  '/resources/blueprints/mine/..%5cother/b/x',
  '/resources/blueprints//b/x',
  '/resources/blueprints/./b/x',
  '/resources/blueprints/t/b/%00',
  '/resources/blueprints/t/b/%zz',
  '/api/v3.1/blueprints/b',
  '/x/resources/blueprints/t/b/x',
])('%s names nothing', (uri) => expect(parseResourceUri(uri)).toBeNull());
