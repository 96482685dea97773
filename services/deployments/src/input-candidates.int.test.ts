import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** Inputs that name a deployment, a node, a secret, ...: the named object must exist. */

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'x' });
  await test.create('far', { blueprint_id: 'mini' });
});
afterAll(() => test.stop());

let number = 0;
const make = (inputs: object) =>
  test.call('PUT', `/deployments/naming-${++number}`, { blueprint_id: 'naming', inputs });

it.each([
  [{}],
  [{ environment: 'far' }],
  [{ key: 'token' }],
  [{ blueprint: 'mini' }],
  [{ node: 'n' }],
  [{ far: 'n' }],
  [{ address: 'v1' }],
  [{ operation: 'mine.check' }],
])('takes %o', async (inputs) => expect((await make(inputs)).status).toBe(201));

it.each([
  [{ environment: 'nowhere' }, 'inputs.environment'],
  [{ key: 'nothing' }, 'inputs.key'],
  [{ blueprint: 'nothing' }, 'inputs.blueprint'],
  // The pattern of the constraint does not match.
  [{ node: 'other' }, 'inputs.node'],
  // The object exists in this deployment, not in the other one.
  [{ far: 'other' }, 'inputs.far'],
  [{ address: 'v2' }, 'inputs.address'],
  [{ operation: 'nothing' }, 'inputs.operation'],
])('refuses %o beside its field', async (inputs, field) => {
  const { status, body } = await make(inputs);
  expect([status, body.error_code, body.field]).toEqual([400, 'deployment_creation_error', field]);
});

it('an update leaves out again what was left out', async () => {
  await test.create('optional', { blueprint_id: 'naming', inputs: { node: 'n' } });
  const { body } = await test.call('POST', '/deployment-updates/optional/update/initiate', {});
  const told = await test.rpc.callModel({
    tenant: 'default_tenant',
    deploymentId: 'optional',
    executionId: body.execution_id,
    callName: 'update-prepare',
    requestJson: JSON.stringify({ call: 'update-prepare', updateId: body.id }),
  });
  expect(JSON.parse(told.resultJson)).toEqual({ unsupported: [] });
});
