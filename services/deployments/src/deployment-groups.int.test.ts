import {
  type Answer,
  principal,
  startTestDeployments,
  type TestDeployments,
} from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame' });
}, 60_000);
afterAll(() => test.stop());

const code = (answer: Answer) => [answer.status, answer.body?.error_code];
const put = (id: string, body: object) => test.call('PUT', `/deployment-groups/${id}`, body);
const patch = (id: string, body: object) => test.call('PATCH', `/deployment-groups/${id}`, body);
const get = async (id: string) => (await test.call('GET', `/deployment-groups/${id}`)).body;
const labelsOf = async (id: string): Promise<string[]> =>
  (await test.call('GET', `/deployments/${id}`)).body.labels.map(
    (l: { key: string; value: string }) => `${l.key}=${l.value}`,
  );

async function messages(type: string) {
  const { rows } = await test.db.pool.query(
    `select envelope from outbox where envelope->>'type' = $1 order by created_at, id`,
    [type],
  );
  return rows.map((row) => row.envelope.payload);
}

describe('groups that a blueprint names', () => {
  it('are joined by its deployments, with their labels, and made where they are missing', async () => {
    await put('joined-a', { labels: [{ team: 'blue' }] });
    const made = await test.create('jo', { blueprint_id: 'grouping' });
    expect((made as { status?: number }).status ?? 201).toBe(201);
    expect((await get('joined-a')).deployment_ids).toEqual(['jo']);
    expect(await get('joined-b')).toMatchObject({
      deployment_ids: ['jo'],
      visibility: 'tenant',
      created_by: 'admin',
    });
    expect(await labelsOf('jo')).toContain('team=blue');
    const bad = { blueprint_id: 'grouping', inputs: { second: 3 } };
    expect(code(await test.call('PUT', '/deployments/jo2', bad))).toEqual([400, 'deployment_creation_error']);
    const again = { blueprint_id: 'grouping', inputs: { second: 'joined-a' } };
    expect((await test.call('PUT', '/deployments/jo3', again)).status).toBe(201);
    expect((await get('joined-a')).deployment_ids).toEqual(['jo', 'jo3']);
  });
});

describe('the group itself', () => {
  it('what a PATCH names to come and to go, goes', async () => {
    await test.create('come', { blueprint_id: 'mini' });
    await put('both ways', {});
    const answer = await patch('both ways', {
      add: { deployment_ids: ['come'] },
      remove: { deployment_ids: ['come'] },
    });
    expect([answer.status, answer.body.deployment_ids]).toEqual([200, []]);
  });

  it('PUT makes it, and changes of an existing one only what is given', async () => {
    const made = await put('a group', { description: 'first', blueprint_id: 'mini', default_inputs: {} });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      id: 'a group',
      default_blueprint_id: 'mini',
      default_inputs: {},
      creation_counter: 0,
      deployment_ids: [],
      labels: [],
      visibility: 'tenant',
      created_by: 'admin',
    });
    const changed = await put('a group', { description: 'again' });
    expect(changed.body).toMatchObject({ description: 'again', default_blueprint_id: 'mini' });
    const listed = (await test.call('GET', '/deployment-groups?id=a%20group')).body.items[0];
    expect(listed).toMatchObject({ id: 'a group', deployment_ids: null, labels: null });
    const full = await test.call('GET', '/deployment-groups?id=a%20group&_get_data=true');
    expect(full.body.items[0]).toMatchObject({ deployment_ids: [], labels: [] });
  });

  it.each([
    ['an unknown blueprint', { blueprint_id: 'nosuch' }, 404, 'not_found_error'],
    ['an unknown member', { deployment_ids: ['nosuch'] }, 404, 'not_found_error'],
    ['an unknown group', { deployments_from_group: 'nosuch' }, 404, 'not_found_error'],
    ['an unknown filter', { filter_id: 'nosuch' }, 404, 'not_found_error'],
    ['a bad rule', { filter_rules: [{ key: 'x', operator: 'y' }] }, 400, 'invalid_filter_rule'],
    ['a bad label', { labels: [{ 'csys-nope': 'x' }] }, 400, 'bad_parameters_error'],
    ['no blueprint', { new_deployments: [{}] }, 409, 'conflict_error'],
  ])('refuses %s and leaves no group', async (_what, body, status, errorCode) => {
    expect(code(await put('refused', body))).toEqual([status, errorCode]);
    expect((await test.call('GET', '/deployment-groups/refused')).status).toBe(404);
  });

  it('is hidden and cannot be changed where the caller does not see it', async () => {
    await put('hidden', { visibility: 'private' });
    const bob = principal('bob');
    expect((await test.call('GET', '/deployment-groups/hidden', undefined, bob)).status).toBe(404);
    await put('everywhere', { visibility: 'global' });
    const elsewhere = principal('bob', { tenant: 'other' });
    const answer = await test.call('PATCH', '/deployment-groups/everywhere', { description: 'x' }, elsewhere);
    expect(code(answer)).toEqual([400, 'illegal_action_error']);
  });
});

describe('members', () => {
  it('are named by id, filter, rules and other groups; PUT replaces, PATCH adds and removes', async () => {
    for (const [id, env] of [
      ['m1', 'dev'],
      ['m2', 'dev'],
      ['m3', 'prod'],
    ])
      await test.create(id!, { labels: [{ env: env! }] });
    const rule = { key: 'env', values: ['dev'], operator: 'any_of', type: 'label' };
    await test.call('PUT', '/filters/deployments/devs', { filter_rules: [rule] });
    expect((await put('members', { filter_id: 'devs' })).body.deployment_ids).toEqual(['m1', 'm2']);
    expect((await put('members', { deployment_ids: ['m3', 'm1'] })).body.deployment_ids.sort()).toEqual([
      'm1',
      'm3',
    ]);
    await put('others', { filter_rules: [rule] });
    const added = await patch('members', { add: { deployments_from_group: 'others' } });
    expect(added.body.deployment_ids.sort()).toEqual(['m1', 'm2', 'm3']);
    expect(
      (await put('several', { deployments_from_group: ['others', 'members'] })).body.deployment_ids,
    ).toHaveLength(3);
    expect(
      (await patch('several', { remove: { deployments_from_group: ['others'] } })).body.deployment_ids,
    ).toEqual(['m3']);
    expect((await put('several', { deployments_from_group: ['others', 'nosuch'] })).status).toBe(404);
    await test.call('DELETE', '/deployment-groups/several');
    const removed = await patch('members', { remove: { filter_rules: [rule] } });
    expect(removed.body.deployment_ids).toEqual(['m3']);
    // A PUT with only rules, or with new deployments, keeps the present members.
    await put('more', { deployment_ids: ['m3'], blueprint_id: 'mini' });
    const ruled = await put('more', { filter_rules: [rule] });
    expect(ruled.body.deployment_ids.sort()).toEqual(['m1', 'm2', 'm3']);
    const grown = await put('more', { new_deployments: [{ id: 'm4' }] });
    expect(grown.body.deployment_ids.sort()).toEqual(['m1', 'm2', 'm3', 'm4']);
    // An empty list of rules selects nothing, and not everything; a filter and rules are combined by OR.
    for (const change of [{ add: { filter_rules: [] } }, { remove: { filter_rules: [] } }])
      expect((await patch('members', change)).body.deployment_ids).toEqual(['m3']);
    const prod = { ...rule, values: ['prod'] };
    const both = await put('both', { filter_id: 'devs', filter_rules: [prod] });
    expect(both.body.deployment_ids.sort()).toEqual(['m1', 'm2', 'm3']);
    const listed = await test.call('GET', '/deployments?_group_id=members&_include=id,deployment_groups');
    expect(listed.body.items).toEqual([{ id: 'm3', deployment_groups: ['both', 'members', 'more'] }]);
    // An unknown group is a filter like others: it selects nothing.
    for (const [method, path] of [
      ['GET', '/deployments?_group_id=nosuch'],
      ['POST', '/searches/deployments?_group_id=nosuch'],
    ] as const) {
      const none = await test.call(method, path, method === 'POST' ? {} : undefined);
      expect([none.status, none.body.items, none.body.metadata]).toMatchObject([
        200,
        [],
        { pagination: { total: 0 }, filtered: null },
      ]);
    }
    const wrong = await patch('members', { remove: { new_deployments: [{}] } });
    expect(code(wrong)).toEqual([400, 'bad_parameters_error']);
  });

  it('take over the labels of the group, and lose those that it loses', async () => {
    await test.create('l1', { labels: [{ own: 'yes' }] });
    await put('labelled', { deployment_ids: ['l1'], labels: [{ team: 'a' }, { tier: 'gold' }] });
    expect(await labelsOf('l1')).toEqual(['own=yes', 'team=a', 'tier=gold']);
    await patch('labelled', { labels: [{ team: 'b' }, { tier: 'gold' }] });
    expect(await labelsOf('l1')).toEqual(['own=yes', 'team=b', 'tier=gold']);
    await test.create('l2');
    await patch('labelled', { add: { deployment_ids: ['l2'] } });
    expect(await labelsOf('l2')).toEqual(['team=b', 'tier=gold']);
  });

  it('become children of the deployment that a label of the group names', async () => {
    await test.create('env');
    await test.create('child1');
    await test.create('child2');
    const shown = await put('family', { labels: [{ key: 'as', value: 'shown' }] });
    expect(shown.body.labels).toEqual([expect.objectContaining({ key: 'as', value: 'shown' })]);
    await put('family', { deployment_ids: ['child1', 'child2'], labels: [{ 'csys-obj-parent': 'env' }] });
    expect((await test.call('GET', '/deployments/env')).body.sub_services_count).toBe(2);
    const orphaned = await put('family', { labels: [{ 'csys-obj-parent': 'nosuch' }] });
    expect(code(orphaned)).toEqual([404, 'deployment_parent_not_found_error']);
    await patch('family', { labels: [] });
    expect((await test.call('GET', '/deployments/env')).body.sub_services_count).toBe(0);
  });

  it('join by rpc, once, and go with their deployment', async () => {
    await put('joined', {});
    await test.create('j1');
    for (const deploymentId of ['j1', 'j1', 'gone'])
      await test.rpc.addToGroup({ tenant: 'default_tenant', groupId: 'joined', deploymentId });
    expect((await get('joined')).deployment_ids).toEqual(['j1']);
    await test.db.pool.query(`delete from deployments where id = 'j1'`);
    expect((await get('joined')).deployment_ids).toEqual([]);
  });
});

describe('new deployments', () => {
  it('are made with the defaults of the group, ids and names from templates, as one execution group', async () => {
    await put('made', { blueprint_id: 'hello', default_inputs: { must: 1 }, labels: [{ grp: 'x' }] });
    const answer = await patch('made', {
      add: {
        new_deployments: [
          { id: '{group_id}-{count}', display_name: 'no {count} of {group_id}', inputs: { greeting: 'hey' } },
          { id: 'made-{uuid}', labels: [{ grp: 'x' }, { more: 'y' }] },
        ],
      },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.creation_counter).toBe(2);
    const [first, second] = answer.body.deployment_ids;
    expect(first).toBe('made-1');
    expect(second).toMatch(/^made-[0-9a-f-]{36}$/);
    const { body } = await test.call('GET', '/deployments/made-1');
    expect(body).toMatchObject({
      display_name: 'no 1 of made',
      inputs: { must: 1, greeting: 'hey', count: 1 },
      deployment_groups: ['made'],
      latest_execution_status: 'completed',
    });
    expect(await labelsOf(second)).toEqual(['from_plan=yes', 'grp=x', 'more=y']);
    const told = (await messages('deployments.group-deployments-created.v1')).at(-1);
    expect(told).toMatchObject({
      deploymentGroupId: 'made',
      deployments: [
        { deploymentId: 'made-1', createExecutionId: body.create_execution },
        { deploymentId: second },
      ],
    });
  });

  it('are named by the templates of the blueprint, which must tell them apart', async () => {
    const { body } = await put('templated', { blueprint_id: 'named', new_deployments: [{}, {}] });
    for (const id of body.deployment_ids as string[])
      expect((await test.call('GET', `/deployments/${id}`)).body.display_name).toBe(
        id.replace('made', 'shown'),
      );
    expect(code(await put('alike', { blueprint_id: 'named-alike', new_deployments: [{}] }))).toEqual([
      409,
      'conflict_error',
    ]);
  });

  it('are all made or none: the field says which one is wrong', async () => {
    const answer = await put('none', {
      blueprint_id: 'hello',
      new_deployments: [{ inputs: { must: 1 } }, { inputs: {} }],
    });
    expect(code(answer)).toEqual([400, 'missing_required_deployment_input_error']);
    expect(answer.body.field ?? answer.body.details?.field).toMatch(/^new_deployments\.1/);
    expect((await test.call('GET', '/deployment-groups/none')).status).toBe(404);
  });

  it.each([
    ['the same id twice', [{ id: 'same' }, { id: 'same' }], 409, 'conflict_error'],
    ['a taken id', [{ id: 'free' }, { id: 'taken' }], 409, 'conflict_error'],
    ['an unknown variable', [{ id: '{nope}' }], 400, 'bad_parameters_error'],
    ['an invalid id', [{ id: 'no spaces' }], 400, 'bad_parameters_error'],
    ['an unknown site', [{ site_name: 'nowhere' }], 404, 'not_found_error'],
  ])('refuses %s', async (_what, newDeployments, status, errorCode) => {
    await test.call('PUT', '/deployments/taken', { blueprint_id: 'mini' });
    const answer = await put('wrong', { blueprint_id: 'mini', new_deployments: newDeployments });
    expect(code(answer)).toEqual([status, errorCode]);
    expect((await test.call('GET', '/deployments/free')).status).toBe(404);
  });

  it('cost the same statements however many they are', async () => {
    await put('many', { blueprint_id: 'mini' });
    const statements = async (count: number) => {
      const before = test.statements();
      const answer = await patch('many', {
        add: { new_deployments: Array.from({ length: count }, () => ({})) },
      });
      expect(answer.status).toBe(200);
      return test.statements() - before;
    };
    await statements(1);
    const few = await statements(2);
    expect(await statements(100)).toBe(few);
    expect((await get('many')).deployment_ids).toHaveLength(103);
    expect((await get('many')).creation_counter).toBe(103);
  });

  it('of two requests at once get counts of their own', async () => {
    await put('raced', { blueprint_id: 'mini' });
    const add = { add: { new_deployments: [{ id: 'raced-{count}' }] } };
    const answers = await Promise.all([patch('raced', add), patch('raced', add), patch('raced', add)]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect((await get('raced')).deployment_ids.sort()).toEqual(['raced-1', 'raced-2', 'raced-3']);
  });

  it('are made once by a request that is repeated with its idempotency key', async () => {
    await put('repeated', { blueprint_id: 'mini' });
    const body = { add: { new_deployments: [{}] } };
    const key = { 'idempotency-key': 'once-only' };
    for (const _ of [1, 2])
      expect((await test.call('PATCH', '/deployment-groups/repeated', body, undefined, key)).status).toBe(
        200,
      );
    expect((await get('repeated')).deployment_ids).toHaveLength(1);
    const other = { add: { new_deployments: [{}, {}] } };
    const answer = await test.call('PATCH', '/deployment-groups/repeated', other, undefined, key);
    expect(code(answer)).toEqual([409, 'conflict_error']);
  });
});

describe('what executions reads', () => {
  it('pages members in the order of joining, with their workflows once', async () => {
    await put('paged', { blueprint_id: 'mini', new_deployments: [{ id: 'p1' }, { id: 'p2' }, { id: 'p3' }] });
    const ask = { tenant: 'default_tenant', groupId: 'paged', username: 'admin', isAdministrator: true };
    const first = await test.rpc.listGroupMembers({ ...ask, after: 0, limit: 2 });
    expect(first.members.map((one) => one.id)).toEqual(['p1', 'p2']);
    expect(Object.keys(first.workflowsJson)).toHaveLength(1);
    expect(JSON.parse(first.workflowsJson[first.members[0]!.workflowsKey]!).install).toBeDefined();
    expect(JSON.parse(first.members[0]!.instanceStatesJson)).toEqual([
      { node_id: 'n', state: 'uninitialized' },
    ]);
    const last = await test.rpc.listGroupMembers({ ...ask, after: first.next, limit: 2 });
    expect([last.members.map((one) => one.id), last.next]).toEqual([['p3'], 0]);
  });

  it('leaves out deployments that the caller does not see', async () => {
    await test.create('secretive', { visibility: 'private' });
    await put('partly', { deployment_ids: ['p1', 'secretive'] });
    const ask = { tenant: 'default_tenant', groupId: 'partly', after: 0, limit: 10 };
    const bobs = await test.rpc.listGroupMembers({ ...ask, username: 'bob', isAdministrator: false });
    expect(bobs.members.map((one) => one.id)).toEqual(['p1']);
    const seen = await test.call('GET', '/deployment-groups/partly', undefined, principal('bob'));
    expect(seen.body.deployment_ids).toEqual(['p1']);
  });
});

describe('deleting', () => {
  it('takes the group alone', async () => {
    await put('alone', { deployment_ids: ['p1'] });
    expect((await test.call('DELETE', '/deployment-groups/alone')).status).toBe(204);
    expect((await test.call('GET', '/deployments/p1')).status).toBe(200);
    expect(code(await test.call('DELETE', '/deployment-groups/alone'))).toEqual([404, 'not_found_error']);
  });

  it('takes the deployments too, as an execution group, unless one of them must stay', async () => {
    await put('all', { blueprint_id: 'mini', new_deployments: [{ id: 'x1' }, { id: 'x2' }] });
    test.peers.active.set('x2', [{ id: 'e', workflow_id: 'install', status: 'started' }]);
    const url = '/deployment-groups/all?delete_deployments=true';
    expect(code(await test.call('DELETE', url))).toEqual([400, 'dependent_exists_error']);
    expect(test.peers.startedGroups).toHaveLength(0);
    test.peers.active.delete('x2');
    const answer = await test.call('DELETE', `${url}&force=true`);
    expect(answer.status).toBe(200);
    expect(test.peers.startedGroups).toMatchObject([
      {
        groupId: answer.body.execution_group_id,
        workflowId: 'delete_deployment_environment',
        force: true,
        deployments: [{ id: 'x1' }, { id: 'x2' }],
      },
    ]);
    expect((await test.call('GET', '/deployment-groups/all')).status).toBe(404);
  });
});
