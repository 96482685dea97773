import { isClosedInV1, parseApiPath } from './api-versions';

test.each([
  ['/api/v3.1/sites/s1', 'v3.1', '/sites/s1', false],
  ['/api/v2.1/blueprints', 'v2.1', '/blueprints', false],
  ['/api/v3/tenants', 'v3.1', '/tenants', false],
  ['/api/v3/node-instances/x', 'v3.1', '/node-instances/x', false],
  ['/api/v2/executions', 'v2.1', '/executions', false],
  ['/api/v1/blueprints', 'v2.1', '/blueprints', true],
  ['/api/version', 'v3.1', '/version', false],
  ['/resources/blueprints/t/b/', 'v3.1', '/resources/blueprints/t/b/', false],
])('%s is %s %s', (text, version, path, hasBareLists) =>
  expect(parseApiPath(text)).toEqual({ version, path, hasBareLists }),
);

test.each([
  ['/api/v1/events', true],
  ['/api/v1/executions', false],
  ['/api/v2/events', false],
  ['/api/v3.1/events', false],
])('%s has no method: %s', (text, isClosed) => expect(isClosedInV1(parseApiPath(text)!)).toBe(isClosed));

test.each([
  '/',
  '/api',
  '/api/',
  '/blueprints',
  '/api/v3.1',
  '/api/v4/blueprints',
  '/api/v9.9/x',
  '/api/v3/sites',
  '/api/version/',
  '//api/v3.1/sites',
])('%s is no path of the API', (text) => expect(parseApiPath(text)).toBeNull());
