// A thief has copied key and certificate of an agent from its host (reference/agents.md 2 S5). With them, and a client of his own, he
// gets what the agent itself would get: operations of that host, while they run. Nothing of other hosts, of central operations, of
// other tenants, no secrets, no data of the API.
import { randomUUID } from 'node:crypto';
import { catalogRpc, deploymentsRpc, executionsRpc } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { type Identity, requestAs } from '../hosts/client/identity';
import { type AgentStream, type CallAnswer, openStream } from '../hosts/client/stream';
import { DEADLINE, ELSEWHERE, type Prey, SECRET, startPrey } from './agent-prey';
import {
  CATALOG,
  claimAll,
  claimTask,
  DEPLOYMENTS,
  EXECUTIONS,
  leasesOf,
  ownLease,
  refusal,
  workerOf,
} from './agent-thief';

jest.setTimeout(180_000);

let prey: Prey;
let thief: Identity;
let stream: AgentStream;
beforeAll(async () => {
  prey = await startPrey();
  thief = await prey.newIdentity(prey.caller.admin, prey.ids.host_a!);
  stream = await openStream(prey.place, thief);
});
afterAll(async () => {
  stream?.close();
  await prey?.fleet.stop();
});

const own = (): string => workerOf('default_tenant', prey.ids.host_a!);

describe('with a stolen certificate', () => {
  test('the operations of its own host are given, with nothing of others beside them', async () => {
    const others = await Promise.all([
      prey.start(prey.caller.admin, 'app_b'),
      prey.start(prey.caller.admin, 'central'),
      prey.start(prey.alien, 'app_a'),
    ]);
    const { assignment } = await ownLease(prey, stream);
    expect(assignment).toMatchObject({ deploymentId: 'd', tenant: 'default_tenant' });
    for (const other of others) {
      expect(leasesOf(await claimTask(stream, own(), other))).toEqual([]);
      expect(leasesOf(await claimAll(stream, own())).map((lease) => lease.taskId)).not.toContain(other.task);
    }
  });

  test('another name is refused: of another host, another tenant, a worker of the manager', async () => {
    const hunted = await prey.start(prey.caller.admin, 'app_b');
    const central = await prey.start(prey.caller.admin, 'central');
    const names = [
      workerOf('default_tenant', prey.ids.host_b!),
      workerOf(ELSEWHERE, prey.alienIds.host_a!),
      'worker-1',
      '',
      'x'.repeat(5_000),
    ];
    for (const name of names) {
      expect(refusal(await claimAll(stream, name))).toMatch(/forbidden|bad_parameters|unauthorized/);
      for (const task of [hunted, central])
        expect(refusal(await claimTask(stream, name, task))).toMatch(/forbidden|bad_parameters|unauthorized/);
    }
  });

  test('it can neither end nor hold what another has', async () => {
    const identity = await prey.newIdentity(prey.caller.admin, prey.ids.host_b!);
    const other = await openStream(prey.place, identity, 'the other');
    try {
      const hunted = await prey.start(prey.caller.admin, 'app_b');
      const lease = await eventually(async () => {
        const [found] = leasesOf(await claimAll(other, workerOf('default_tenant', prey.ids.host_b!))).filter(
          (one) => one.taskId === hunted.task,
        );
        if (!found) throw new Error('not ready yet');
        return found;
      }, DEADLINE);
      const outcome = {
        taskId: hunted.task,
        attempt: lease.attempt,
        kind: executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED,
      };
      const finish = executionsRpc.FinishTasksRequest.encode(
        executionsRpc.FinishTasksRequest.fromPartial({ workerId: own(), outcomes: [outcome], room: 0 }),
      ).finish();
      await stream.call(`${EXECUTIONS}/FinishTasks`, finish, { lease: lease.proof });
      expect(
        (await prey.caller.must(prey.caller.admin, 'GET', `/executions/${hunted.execution}`)).status,
      ).toBe('started');
      // The proof of the other's lease is worthless for him.
      const open = deploymentsRpc.OpenOperationRequest.fromPartial({
        tenant: 'default_tenant',
        deploymentId: 'd',
        executionId: hunted.execution,
        nodeInstanceId: prey.ids.app_b!,
        username: 'admin',
      });
      const bytes = deploymentsRpc.OpenOperationRequest.encode(open).finish();
      expect(refusal(await stream.call(`${DEPLOYMENTS}/OpenOperation`, bytes, { lease: lease.proof }))).toBe(
        'forbidden_error',
      );
    } finally {
      other.close();
    }
  });

  test('data: only with a lease of its own, and only of that operation', async () => {
    const lease = await ownLease(prey, stream);
    const open = (more: object): Uint8Array =>
      deploymentsRpc.OpenOperationRequest.encode(
        deploymentsRpc.OpenOperationRequest.fromPartial({
          tenant: 'default_tenant',
          deploymentId: 'd',
          executionId: lease.executionId,
          nodeInstanceId: prey.ids.app_a!,
          isSource: true,
          inputsJson: '{}',
          username: 'admin',
          ...more,
        }),
      ).finish();
    const path = `${DEPLOYMENTS}/OpenOperation`;
    expect('body' in (await stream.call(path, open({}), { lease: lease.proof }))).toBe(true);
    const wrong = [
      { tenant: 'elsewhere' },
      { deploymentId: 'e' },
      { executionId: randomUUID() },
      { username: 'alien' },
      { nodeInstanceId: prey.ids.app_b! },
      { relatedInstanceId: prey.ids.host_b! },
      { inputsJson: '{"word":{"get_secret":"vault"}}', hasFunctions: true },
    ];
    for (const more of wrong)
      expect(refusal(await stream.call(path, open(more), { lease: lease.proof }))).toMatch(
        /forbidden|not_found/,
      );
    for (const proof of [undefined, '', 'made-up', lease.proof.slice(0, -2)])
      expect(refusal(await stream.call(path, open({}), proof === undefined ? {} : { lease: proof }))).toBe(
        'forbidden_error',
      );
    const write = (nodeInstanceId: string): Uint8Array =>
      deploymentsRpc.UpdateNodeInstanceRequest.encode(
        deploymentsRpc.UpdateNodeInstanceRequest.fromPartial({
          tenant: 'default_tenant',
          nodeInstanceId,
          version: 1,
          runtimePropertiesJson: '{"stolen":true}',
          executionId: lease.executionId,
          taskId: lease.taskId,
          attempt: lease.attempt,
        }),
      ).finish();
    for (const instance of [prey.ids.app_b!, prey.ids.host_b!, prey.alienIds.app_a!])
      expect(
        refusal(
          await stream.call(`${DEPLOYMENTS}/UpdateNodeInstance`, write(instance), { lease: lease.proof }),
        ),
      ).toMatch(/forbidden|not_found/);
    const text = JSON.stringify(await prey.caller.must(prey.caller.admin, 'GET', '/node-instances'));
    expect(text).not.toContain('stolen');
  });

  test('files: those of its blueprint, not those of others', async () => {
    const lease = await ownLease(prey, stream);
    const read = (
      blueprintId: string,
      tenant = 'default_tenant',
      path = 'scripts/run.sh',
    ): Promise<CallAnswer> =>
      stream.call(
        `${CATALOG}/ReadBlueprintFile`,
        catalogRpc.ReadBlueprintFileRequest.encode({ tenant, blueprintId, path }).finish(),
        { lease: lease.proof },
      );
    const good = await read('b');
    expect('body' in good && good.body.toString()).toContain('the file of the blueprint');
    expect(refusal(await read('other'))).toMatch(/forbidden|not_found/);
    expect(refusal(await read('b', 'elsewhere'))).toMatch(/forbidden|not_found/);
    expect(refusal(await read('b', 'default_tenant', '../other/scripts/run.sh'))).not.toBe('');
  });

  test('methods beyond its list are refused by name, of the secrets service too', async () => {
    const paths = [
      'secrets/baton.secrets.v1.SecretsService/ReadSecret',
      `${EXECUTIONS}/StartExecution`,
      `${EXECUTIONS}/ResolveExecutionToken`,
      `${EXECUTIONS}/SubmitWork`,
      'executions/baton.executions.v1.WorkersService/RegisterAgent',
      `${DEPLOYMENTS}/CallModel`,
      `${DEPLOYMENTS}/EvaluateFunctions`,
      'deployments/baton.deployments.v1.AgentsService/EnrolAgent',
      'identity/baton.identity.v1.IdentityService/Authenticate',
      '',
      '../..',
    ];
    for (const path of paths)
      expect(refusal(await stream.call(path, Buffer.alloc(0)))).toBe('forbidden_error');
  });

  test('the API knows no certificates; the token of its own operation opens only what the operation needs', async () => {
    const lease = await ownLease(prey, stream);
    const rest = (method: string, path: string, token?: string, body?: object) =>
      requestAs(prey.place, thief, {
        method,
        path: `/api/v3.1${path}`,
        headers: { tenant: 'default_tenant', ...(token ? { 'execution-token': token } : {}) },
        ...(body ? { body } : {}),
      });
    expect((await rest('GET', '/deployments')).status).toBe(401);
    expect((await rest('GET', '/secrets')).status).toBe(401);
    const { executionToken } = lease.assignment;
    expect((await rest('GET', `/node-instances/${prey.ids.app_a}`, executionToken)).status).toBe(200);
    const closed: [string, string, object?][] = [
      ['GET', '/secrets'],
      ['GET', '/secrets/vault'],
      ['PUT', '/secrets/mine', { value: 'x' }],
      ['GET', '/deployments/e'],
      ['GET', '/users'],
      ['POST', '/executions', { deployment_id: 'd', workflow_id: 'install' }],
      ['POST', `/agents/${prey.ids.host_b}/enrolment`, {}],
      ['POST', `/agents/${prey.ids.host_a}/enrolment`, {}],
      ['DELETE', `/agents/${prey.ids.host_b}`],
      ['PATCH', `/agents/${prey.ids.host_b}`, { state: 'failed' }],
      ['PUT', '/deployments/mine', { blueprint_id: 'b' }],
      ['GET', '/agents'],
    ];
    for (const [method, path, body] of closed) {
      const { status, body: text } = await rest(method, path, executionToken, body);
      expect(`${method} ${path}: ${status}`).toMatch(/: 40[34]$/);
      expect(text).not.toContain(SECRET);
    }
    const list = await rest('GET', '/node-instances', executionToken);
    expect(list.body).not.toContain(prey.alienIds.app_a);
  });

  test('nor does that token change an instance of another host of its deployment', async () => {
    const { assignment } = await ownLease(prey, stream);
    const patch = (id: string | undefined, token: string) =>
      requestAs(prey.place, thief, {
        method: 'PATCH',
        path: `/api/v3.1/node-instances/${id}`,
        headers: { tenant: 'default_tenant', 'execution-token': token },
        body: { version: 1, runtime_properties: { by: 'the thief' } },
      });
    const { executionToken } = assignment;
    const [mark, execution, , mac] = executionToken.split('.');
    const wider = Buffer.from(JSON.stringify([prey.ids.app_b])).toString('base64url');
    for (const other of [prey.ids.app_b, prey.ids.host_b, prey.ids.central, prey.alienIds.app_a])
      expect((await patch(other, executionToken)).status).toBe(403);
    expect((await patch(prey.ids.app_b, [mark, execution, wider, mac].join('.'))).status).toBe(401);
    // Those of its operation it may change: the node instance, and its host.
    for (const own of [prey.ids.app_a, prey.ids.host_a])
      expect((await patch(own, executionToken)).status).toBe(200);
  });

  test('the model of its own deployment can be read while an operation is leased, no other', async () => {
    const lease = await ownLease(prey, stream);
    const read = (deploymentId: string, tenant = 'default_tenant', proof = lease.proof) =>
      stream.call(
        `${DEPLOYMENTS}/GetWorkflowModel`,
        deploymentsRpc.GetWorkflowModelRequest.encode(
          deploymentsRpc.GetWorkflowModelRequest.fromPartial({ tenant, deploymentId }),
        ).finish(),
        { lease: proof },
      );
    const good = await read('d');
    expect('body' in good && good.body.toString()).toContain(prey.ids.app_a);
    expect('body' in good && good.body.toString()).not.toContain(SECRET);
    for (const bad of [read('e'), read('d', ELSEWHERE), read('d', 'default_tenant', '')])
      expect(refusal(await bad)).toBe('forbidden_error');
  });
});
