import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';
const CHILDREN = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];
/** Id of the instance of each node. */
let instances: Record<string, string>;

beforeAll(async () => {
  test = await startTestDeployments();
  await test.create('parent', { blueprint_id: 'composed' });
  for (const id of CHILDREN)
    await test.create(id, { blueprint_id: 'mini', labels: [{ 'csys-obj-parent': 'parent' }] });
  const { items } = (await test.call('GET', '/node-instances?deployment_id=parent')).body;
  instances = Object.fromEntries(items.map((i: { node_id: string; id: string }) => [i.node_id, i.id]));
});
afterAll(() => test.stop());

const components = async (deploymentId: string) =>
  (await test.rpc.listComponents({ tenant, deploymentId })).deploymentIds;

async function name(node: string, id: unknown): Promise<void> {
  const { version } = (await test.call('GET', `/node-instances/${instances[node]}`)).body;
  const runtime_properties = { deployment: { id } };
  const body = { version, runtime_properties };
  expect((await test.call('PATCH', `/node-instances/${instances[node]}`, body)).status).toBe(200);
}

it('components are the deployments that instances of their types name, here and as far as they exist', async () => {
  expect(await components('parent')).toEqual([]);
  const nodes = ['two', 'one', 'remote', 'shared', 'plain', 'apart'];
  for (const [i, node] of nodes.entries()) await name(node, CHILDREN[i]);
  expect(await components('parent')).toEqual(['first', 'second']);
  await name('one', 'gone');
  expect(await components('parent')).toEqual(['first']);
  await name('one', 'parent');
  expect(await components('parent')).toEqual(['first']);
  expect([await components('first'), await components('none')]).toEqual([[], []]);
});

const dependents = async (deploymentId: string): Promise<string[]> =>
  (await test.rpc.getDeployment({ tenant, deploymentId })).dependents;

async function depend(source: string, target: string, creator: string): Promise<void> {
  const body = { dependency_creator: creator, source_deployment: source, target_deployment: target };
  const answer = await test.call('PUT', '/deployments/inter-deployment-dependencies', body);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
}

it('own components never block the workflows of their parent, and the parent never those of its components', async () => {
  expect((await dependents('parent')).length).toBe(CHILDREN.length);
  for (const id of CHILDREN) await depend('parent', id, `component.${instances.two}`);
  expect(await dependents('parent')).toEqual([]);
  expect(await dependents('first')).toEqual([]);
  // Another child that is not a component is a dependent.
  await test.create('other', { blueprint_id: 'mini', labels: [{ 'csys-obj-parent': 'parent' }] });
  expect(await dependents('parent')).toEqual([expect.stringContaining('`other`')]);
  // For a deletion the components count as dependents.
  const refused = await test.call('DELETE', '/deployments/parent');
  expect([refused.status, refused.body.error_code]).toEqual([400, 'dependent_exists_error']);
  expect(refused.body.dependents).toEqual(expect.arrayContaining(['first', 'other']));
});

it.each(['stop', 'uninstall', 'update', 'csys_new_deployment_update', 'heal'])(
  'a dependency does not block while its source has %s before it or under way',
  async (workflow) => {
    const [source, target] = [`${workflow}_source`, `${workflow}_target`];
    await test.create(source, { blueprint_id: 'mini' });
    await test.create(target, { blueprint_id: 'mini' });
    await depend(source, target, 'sharedresource.n_1');
    const latest = (status: string, of = workflow) =>
      test.db.pool.query('update deployments set latest_status = $2, latest_workflow_id = $3 where id = $1', [
        source,
        status,
        of,
      ]);
    const blocks = async () => (await dependents(target)).length > 0;
    for (const status of ['pending', 'queued', 'started']) {
      await latest(status);
      expect(await blocks()).toBe(false);
      await latest(status, 'install');
      expect(await blocks()).toBe(true);
    }
    for (const status of ['terminated', 'failed', 'cancelled']) {
      await latest(status);
      expect(await blocks()).toBe(true);
    }
  },
);
