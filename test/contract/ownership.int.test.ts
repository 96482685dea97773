// created_at and created_by (a plugin: uploaded_at; PATCH: creator) of every resource that a restore writes. The given values are
// kept; they are refused without the permission, for an unknown user, and for an invalid date. Needs `npm run build`.

import type { Sent } from './spec-case';
import { type Answer, startWorld, type World } from './world';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  // This user may create everything in the tenant, but must not set another owner or time.
  const change = { tenant_name: 'default_tenant', username: 'viewer1', role: 'manager' };
  const answer = await world.send('v3.1', 'PATCH', { path: '/tenants/users', body: change });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  const group = await world.send('v3.1', 'PUT', {
    path: '/deployment-groups/g1',
    body: { deployment_ids: ['d2'] },
  });
  if (group.status !== 200) throw new Error(JSON.stringify(group.body));
}, 120_000);
afterAll(async () => await world?.stop(), 60_000);

const AT = '2020-01-02T03:04:05.678Z';
const rules = [{ key: 'tier', values: ['db'], operator: 'any_of', type: 'label' }];
/** Creates the resource of that name with `owned` in its body; in the query for resources that take them there. */
type Make = (name: string, owned: Record<string, string>) => [method: string, sent: Sent];
const inQuery = (owned: Record<string, string>): string => new URLSearchParams(owned).toString();

const made: [what: string, make: Make, at?: string][] = [
  [
    'blueprint',
    (name, owned) => ['PUT', { path: `/blueprints/${name}?${inQuery(owned)}`, archive: 'blueprint' }],
  ],
  [
    'plugin',
    (_name, owned) => ['POST', { path: `/plugins?${inQuery(owned)}`, archive: 'plugin' }],
    'uploaded_at',
  ],
  [
    'deployment',
    (name, owned) => ['PUT', { path: `/deployments/${name}`, body: { blueprint_id: 'b1', ...owned } }],
  ],
  ['deployment group', (name, owned) => ['PUT', { path: `/deployment-groups/${name}`, body: owned }]],
  [
    'dependency',
    (name, owned) => [
      'PUT',
      {
        path: '/deployments/inter-deployment-dependencies',
        body: { dependency_creator: name, source_deployment: 'd1', target_deployment: 'd2', ...owned },
      },
    ],
  ],
  ['site', (name, owned) => ['PUT', { path: `/sites/${name}`, body: owned }]],
  ['secret', (name, owned) => ['PUT', { path: `/secrets/${name}`, body: { value: 'v', ...owned } }]],
  [
    'secrets provider',
    (name, owned) => ['PUT', { path: '/secrets-providers', body: { name, type: 'local', ...owned } }],
  ],
  [
    'filter of deployments',
    (name, owned) => [
      'PUT',
      { path: `/filters/deployments/${name}`, body: { filter_rules: rules, ...owned } },
    ],
  ],
  [
    'filter of blueprints',
    (name, owned) => [
      'PUT',
      { path: `/filters/blueprints/${name}`, body: { filter_rules: rules, ...owned } },
    ],
  ],
  [
    'execution schedule',
    (name, owned) => [
      'PUT',
      {
        path: `/execution-schedules/${name}?deployment_id=d2`,
        body: { workflow_id: 'install', since: '2040-01-01 00:00:00', count: 1, ...owned },
      },
    ],
  ],
  [
    'execution group',
    (name, owned) => [
      'POST',
      {
        path: '/execution-groups',
        body: { id: name, deployment_group_id: 'g1', workflow_id: 'nosuch', ...owned },
      },
    ],
  ],
  [
    'execution that has ended',
    (_name, owned) => [
      'POST',
      {
        path: '/executions',
        body: { deployment_id: 'd1', workflow_id: 'install', force_status: 'failed', ...owned },
      },
    ],
  ],
];

describe.each(made)('a new %s', (what, make, at = 'created_at') => {
  const name = (suffix: string): string => `${what.replaceAll(' ', '-')}-${suffix}`;
  const send = (suffix: string, owned: Record<string, string>, as?: 'viewer'): Promise<Answer> => {
    const [method, sent] = make(name(suffix), owned);
    return world.send('v3.1', method, { ...sent, as });
  };

  test('keeps them', async () => {
    const { status, body } = await send('kept', { [at]: AT, created_by: 'viewer1' });
    expect([status < 300 ? 'ok' : body, body[at], body.created_by]).toEqual(['ok', AT, 'viewer1']);
  }, 30_000);

  test.each([
    [{ created_by: 'nosuchuser' }, undefined, 400, 'created_by'],
    [{ [at]: 'yesterday' }, undefined, 400, at],
    [{ created_by: 'admin' }, 'viewer' as const, 403, 'created_by'],
    [{ [at]: AT }, 'viewer' as const, 403, at],
  ])('%j as %s: %s', async (owned, as, status, field) => {
    // Only bootstrap permissions allow to create past executions at all; another test covers those permissions.
    if (what === 'execution that has ended' && as) return;
    const answer = await send('refused', owned as Record<string, string>, as);
    expect([answer.status, answer.body.field]).toEqual([status, field]);
  });
});

test.each([
  ['/blueprints/blueprint-kept', true],
  ['/plugins/$plugin', false],
  ['/deployments/d2', true],
  ['/secrets/s1', true],
])(
  'PATCH %s changes creator and time for those who may, and passes over what it does not know',
  async (path, hasTime) => {
    const patch = (body: object, as?: 'viewer') => world.send('v3.1', 'PATCH', { path, body, as });
    const changed = await patch({ creator: 'viewer1', ...(hasTime && { created_at: AT }) });
    expect(changed.body).toMatchObject({ created_by: 'viewer1', ...(hasTime && { created_at: AT }) });
    const refused = await patch({ creator: 'viewer1' }, 'viewer');
    expect([refused.status, refused.body.field]).toEqual([403, 'creator']);
    expect(await patch({ creator: 'nosuchuser' })).toMatchObject({ status: 400, body: { field: 'creator' } });
    // Plugins accept an empty change, as in the original.
    const empty = path.startsWith('/plugins') ? [200, undefined] : [400, 'illegal_action_error'];
    const { status, body } = await patch({});
    expect([status, body.error_code]).toEqual(empty);
    // For blueprints an unknown key is refused (reference/rest-api.md 4.1).
    const unknown = await patch({ nosuchkey: 1 });
    expect(unknown.status).toBe(path.startsWith('/blueprints') ? 400 : 200);
  },
);

test('several dependencies at once: each is judged', async () => {
  const one = { dependency_creator: 'bulk', target_deployment: 'd2' };
  const all = {
    source_deployment_id: 'd1',
    inter_deployment_dependencies: [one, { ...one, created_at: AT }],
  };
  const path = '/deployments/inter-deployment-dependencies';
  const refused = await world.send('v3.1', 'POST', { path, body: all, as: 'viewer' });
  expect([refused.status, refused.body.field]).toEqual([403, 'created_at']);
  expect((await world.send('v3.1', 'POST', { path, body: all })).status).toBe(200);
});

test('secrets are imported with who made them and when', async () => {
  const item = {
    ...{
      value: 'v',
      tenant_name: 'default_tenant',
      visibility: 'tenant',
      is_hidden_value: false,
      encrypted: false,
    },
    created_at: AT,
  };
  const list = [
    { ...item, key: 'imported1', creator: 'viewer1' },
    { ...item, key: 'imported2', creator: 'nosuchuser' },
    { ...item, key: 'imported3', created_at: 'yesterday' },
  ];
  const body = { secrets_list: list, override_collisions: false };
  const path = '/secrets/share/import';
  const answer = await world.send('v3.1', 'POST', { path, body });
  expect(answer.body.secrets_errors).toEqual({
    1: { creator_valid: expect.any(String) },
    2: { timestamp: expect.any(String) },
  });
  expect((await world.send('v3.1', 'GET', { path: '/secrets/imported1' })).body).toMatchObject({
    created_by: 'viewer1',
    created_at: AT,
  });
  const asOther = await world.send('v3.1', 'POST', {
    path,
    body: { ...body, secrets_list: [{ ...list[0], key: 'other', created_at: null, creator: 'admin' }] },
    as: 'viewer',
  });
  expect(asOther.body.secrets_errors).toEqual({ 0: { creator: expect.any(String) } });
});
