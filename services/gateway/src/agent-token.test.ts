import { agentTokenRoutes } from '@baton/contracts/http/agent-token';
import { allRoutes } from '@baton/contracts/http/all';
import { checkAgentToken } from './agent-token';
import { type Caller, callerOf } from './principal-cache';
import { compileRoutes } from './route-table';

const agent = { tenant: 't1', deploymentId: 'd1', blueprintId: 'b 1', instances: ['web_1', 'host 1'] };
const caller: Caller = { ...callerOf({ permissions: [] } as never), agent };
const table = compileRoutes(allRoutes);

/** Returns why the token may not be used, or null. */
function refusalOf(method: string, url: string, by: Caller = caller): string | null {
  const [path = '', query = ''] = url.split('?');
  const match = table.match('v3.1', method, path);
  if (match.kind !== 'route') throw new Error(`no route ${method} ${path}`);
  try {
    checkAgentToken({ route: match.route, segments: match.segments, query }, by);
    return null;
  } catch (error) {
    expect(error).toMatchObject({ code: 'forbidden_error' });
    return (error as Error).message;
  }
}

test('every route that is not in the list is closed, whatever its arguments are', () => {
  const others = allRoutes.filter(({ id }) => !Object.hasOwn(agentTokenRoutes, id));
  expect(others.length).toBeGreaterThan(150);
  for (const contract of others) {
    const segments = contract.path
      .split('/')
      .slice(1)
      .map((name) => (name.startsWith(':') ? 'd1' : name));
    const route = { contract } as never;
    const query = 'deployment_id=d1';
    expect(() => checkAgentToken({ route, segments, query }, caller)).toThrow(
      /opens only what the operation/,
    );
  }
});

test('the list names routes that exist, and none that reads secrets or grants rights', () => {
  const ids = new Set(allRoutes.map(({ id }) => id));
  expect(Object.keys(agentTokenRoutes).filter((id) => !ids.has(id))).toEqual([]);
  const open = allRoutes.filter(({ id }) => Object.hasOwn(agentTokenRoutes, id));
  expect(open.filter(({ owner }) => owner === 'secrets' || owner === 'identity')).toEqual([]);
  const changing = open.filter(({ method }) => method !== 'GET').map(({ id }) => id);
  expect(changing.sort()).toEqual(['createEvents', 'patchNodeInstance']);
});

test.each([
  ['GET', '/deployments/d1'],
  ['GET', '/nodes?deployment_id=d1&id=web'],
  ['GET', '/node-instances?deployment_id=d1'],
  ['GET', '/node-instances/web_1'],
  ['GET', '/node-instances/web_2'],
  ['PATCH', '/node-instances/web_1'],
  ['PATCH', '/node-instances/host%201'],
  ['POST', '/events'],
  ['GET', '/resources/blueprints/t1/b%201/scripts/x.sh'],
])('%s %s is open', (method, url) => {
  expect(refusalOf(method, url)).toBeNull();
});

test.each([
  ['GET', '/deployments/d2', 'the deployment of its execution'],
  ['GET', '/nodes', 'deployment_id must be'],
  ['GET', '/nodes?deployment_id=d2', 'deployment_id must be'],
  ['GET', '/nodes?deployment_id=d1&deployment_id=d2', 'deployment_id must be'],
  ['GET', '/nodes?deployment_id=d1&_all_tenants=true', '_all_tenants'],
  ['GET', '/nodes?deployment_id=d1&_evaluate_functions=true', '_evaluate_functions'],
  ['GET', '/node-instances/web_1?_evaluate_functions=true', '_evaluate_functions'],
  ['PATCH', '/node-instances/web_1?force=true', 'force'],
  [
    'PATCH',
    '/node-instances/web_2',
    'id must be a node instance of the operation, or its host: web_1, host 1',
  ],
  ['PATCH', '/node-instances/%ff', 'id must be'],
  ['GET', '/resources/blueprints/t2/b%201/x', 'the tenant of its execution'],
  ['GET', '/resources/blueprints/t1/b2/x', 'the blueprint of its deployment'],
  ['GET', '/resources/blueprints/t1/%ff/x', 'the blueprint of its deployment'],
  ['GET', '/secrets/password', 'GET /secrets/:secret_key is none of them'],
  ['POST', '/executions', 'none of them'],
])('%s %s is closed, and the text says why', (method, url, why) => {
  expect(refusalOf(method, url)).toContain(why);
});

test('an operation without instances changes none', () => {
  const none = { ...caller, agent: { ...agent, instances: [] } };
  expect(refusalOf('PATCH', '/node-instances/web_1', none)).toContain('id must be');
});

test('an execution without a deployment reaches none, and callers who are no agents are not held to the list', () => {
  const nowhere = { ...caller, agent: { ...agent, deploymentId: '' } };
  expect(refusalOf('GET', '/nodes?deployment_id=', nowhere)).toContain('deployment_id must be');
  const { agent: _none, ...person } = caller;
  expect(refusalOf('GET', '/secrets/password', person)).toBeNull();
});
