// A thief has copied key and certificate of an agent from its host (S5). With them, and a client of his own, he gets what the agent
// itself would get: operations of that host, while they run. Nothing of other hosts, of central operations, of other tenants, no
// secrets, no data of the API. And what else stands at the door: tokens, foreign authorities, revocation (S4, S6).
import { randomUUID } from 'node:crypto';
import { agentPaths, agentWorkerId, catalogRpc, deploymentsRpc, executionsRpc } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { foreignIdentity } from '../hosts/client/foreign';
import {
  enrol,
  type Identity,
  openTls,
  type Place,
  requestAs,
  signingRequest,
  someAbout,
} from '../hosts/client/identity';
import { type AgentStream, type CallAnswer, openStream } from '../hosts/client/stream';
import { type Caller, callerOf, type Who } from './caller';

jest.setTimeout(180_000);
const DEADLINE = { deadlineMs: 60_000 };
const SECRET = 'the-word-of-the-vault-5512';
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_types:
  app:
    derived_from: cloudify.nodes.Root
    properties: { word: { default: '' } }
    interfaces:
      probe:
        run: { implementation: scripts/run.sh, max_retries: 0, inputs: { word: { default: { get_property: [SELF, word] } } } }
        secret: { implementation: scripts/run.sh, max_retries: 0, inputs: { word: { default: { get_secret: vault } } } }
node_templates:
  host_a: { type: cloudify.nodes.Compute, properties: { ip: 10.0.0.1, agent_config: { install_method: provided, user: u } } }
  host_b: { type: cloudify.nodes.Compute, properties: { ip: 10.0.0.2, agent_config: { install_method: provided, user: u } } }
  app_a: { type: app, properties: { word: word-of-a }, relationships: [{ type: cloudify.relationships.contained_in, target: host_a }] }
  app_b: { type: app, properties: { word: word-of-b }, relationships: [{ type: cloudify.relationships.contained_in, target: host_b }] }
  central: { type: app }
`;
const FILES = {
  'blueprint.yaml': BLUEPRINT,
  'scripts/run.sh': '#!/bin/sh\necho the file of the blueprint\n',
};

let fleet: Fleet;
let caller: Caller;
let place: Place;
let alien: Who;
/** Node instances of the deployment `d` of the tenant, by node; and of the other tenant. */
let ids: Record<string, string>;
let alienIds: Record<string, string>;
let thief: Identity;
let stream: AgentStream;

beforeAll(async () => {
  // No worker: central operations stay unclaimed, as prey.
  fleet = await startFleet({ mode: 'standalone', workers: 0, env: { BATON_LOG_LEVEL: 'warn' } });
  caller = callerOf(fleet);
  place = { host: '127.0.0.1', port: Number(new URL(fleet.baseUrl).port) };
  alien = { ...(await caller.user('alien', 'elsewhere', 'manager')) };
  await caller.must(caller.admin, 'PUT', '/secrets/vault', { value: SECRET });
  ids = await deploy(caller.admin);
  alienIds = await deploy(alien);
  thief = await newIdentity(caller.admin, ids.host_a!);
  stream = await openStream(place, thief);
});
afterAll(async () => {
  stream?.close();
  await fleet?.stop();
});

/** Uploads the blueprint and makes the deployment `d`; returns its node instances by node. */
async function deploy(who: Who): Promise<Record<string, string>> {
  await caller.must(who, 'PUT', '/blueprints/b', undefined, tgz(FILES));
  await caller.must(who, 'PUT', '/blueprints/other', undefined, tgz(FILES));
  await caller.must(who, 'PUT', '/deployments/d', { blueprint_id: 'b' });
  await caller.must(who, 'PUT', '/deployments/e', { blueprint_id: 'other' });
  const { items } = await caller.must(who, 'GET', '/node-instances?deployment_id=d');
  return Object.fromEntries(items.map((one: { node_id: string; id: string }) => [one.node_id, one.id]));
}

/** Enters the agent of a host instance; returns its one-time token and what it trusts. */
async function newToken(who: Who, instance: string): Promise<{ token: string; authorities: string }> {
  const body = {
    node_instance_id: instance,
    state: 'created',
    create_rabbitmq_user: false,
    install_method: 'provided',
  };
  await caller.must(who, 'PUT', `/agents/${instance}`, body);
  return await caller.must(who, 'POST', `/agents/${instance}/enrolment`, {});
}

async function newIdentity(who: Who, instance: string): Promise<Identity> {
  const { token, authorities } = await newToken(who, instance);
  return await enrol(place, token, authorities);
}

interface Started {
  execution: string;
  task: string;
}

/** Starts an operation of the interface `probe` on a node; returns the execution and its task. */
async function start(who: Who, node: string, operation = 'run'): Promise<Started> {
  const { id } = await caller.must(who, 'POST', '/executions', {
    deployment_id: 'd',
    workflow_id: 'execute_operation',
    parameters: { operation: `probe.${operation}`, node_ids: [node] },
    force: true,
  });
  const task = await eventually(async () => {
    const answer = await caller.must(who, 'GET', `/operations?execution_id=${id}`);
    const found = (answer.items ?? answer).find((one: { type: string }) => one.type === 'RemoteTask');
    if (!found) throw new Error('the operation is not planned yet');
    return found.id as string;
  }, DEADLINE);
  return { execution: id, task };
}

const EXECUTIONS = 'executions/baton.executions.v1.ExecutionsService';
const DEPLOYMENTS = 'deployments/baton.deployments.v1.DeploymentsService';
const CATALOG = 'catalog/baton.catalog.v1.CatalogService';
const worker = (tenant: string, instance: string): string => agentWorkerId(`${tenant}/${instance}`);
const own = (): string => worker('default_tenant', ids.host_a!);

/** The code of a refusal. @throws Error when it was no refusal */
function refusal(answer: CallAnswer): string {
  if ('code' in answer) return answer.code;
  throw new Error(`it was answered: ${answer.body.toString('latin1').slice(0, 200)}`);
}

const claimTask = (workerId: string, { execution, task }: Started): Promise<CallAnswer> =>
  stream.call(
    `${EXECUTIONS}/ClaimTask`,
    executionsRpc.ClaimTaskRequest.encode(
      executionsRpc.ClaimTaskRequest.fromPartial({
        workerId,
        executionId: execution,
        taskId: task,
        room: 50,
      }),
    ).finish(),
  );

const claimAll = (workerId: string, by = stream): Promise<CallAnswer> =>
  by.call(
    `${EXECUTIONS}/ClaimAgentTasks`,
    executionsRpc.ClaimAgentTasksRequest.encode(
      executionsRpc.ClaimAgentTasksRequest.fromPartial({ workerId, room: 50, isNewStream: true }),
    ).finish(),
  );

type Lease = executionsRpc.TaskLease;

/** Leases of an answer. @throws Error for a refusal */
function leasesOf(answer: CallAnswer): Lease[] {
  if ('code' in answer) throw new Error(`${answer.code}: ${answer.message}`);
  return executionsRpc.ClaimAgentTasksResponse.decode(answer.body).leases;
}

/** Starts an operation of the thief's own host and takes it: what he may have. */
async function ownLease(
  operation = 'run',
): Promise<Lease & { assignment: Record<string, unknown> & { executionToken: string } }> {
  const { task } = await start(caller.admin, 'app_a', operation);
  const lease = await eventually(async () => {
    const found = leasesOf(await claimAll(own())).find((one) => one.taskId === task);
    if (!found) throw new Error('the operation is not ready yet');
    return found;
  }, DEADLINE);
  return { ...lease, assignment: JSON.parse(lease.assignmentJson) };
}

describe('with a stolen certificate', () => {
  test('the operations of its own host are given, with nothing of others beside them', async () => {
    const others = await Promise.all([
      start(caller.admin, 'app_b'),
      start(caller.admin, 'central'),
      start(alien, 'app_a'),
    ]);
    const { assignment } = await ownLease();
    expect(assignment).toMatchObject({ deploymentId: 'd', tenant: 'default_tenant' });
    for (const other of others) {
      expect(leasesOf(await claimTask(own(), other))).toEqual([]);
      expect(leasesOf(await claimAll(own())).map((lease) => lease.taskId)).not.toContain(other.task);
    }
  });

  test('another name is refused: of another host, another tenant, a worker of the manager', async () => {
    const prey = await start(caller.admin, 'app_b');
    const central = await start(caller.admin, 'central');
    const names = [
      worker('default_tenant', ids.host_b!),
      worker('elsewhere', alienIds.host_a!),
      'worker-1',
      '',
      'x'.repeat(5_000),
    ];
    for (const name of names) {
      expect(refusal(await claimAll(name))).toMatch(/forbidden|bad_parameters|unauthorized/);
      for (const task of [prey, central])
        expect(refusal(await claimTask(name, task))).toMatch(/forbidden|bad_parameters|unauthorized/);
    }
  });

  test('it can neither end nor hold what another has', async () => {
    const identity = await newIdentity(caller.admin, ids.host_b!);
    const other = await openStream(place, identity, 'the other');
    try {
      const prey = await start(caller.admin, 'app_b');
      const lease = await eventually(async () => {
        const [found] = leasesOf(await claimAll(worker('default_tenant', ids.host_b!), other)).filter(
          (one) => one.taskId === prey.task,
        );
        if (!found) throw new Error('not ready yet');
        return found;
      }, DEADLINE);
      const outcome = {
        taskId: prey.task,
        attempt: lease.attempt,
        kind: executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED,
      };
      const finish = executionsRpc.FinishTasksRequest.encode(
        executionsRpc.FinishTasksRequest.fromPartial({ workerId: own(), outcomes: [outcome], room: 0 }),
      ).finish();
      await stream.call(`${EXECUTIONS}/FinishTasks`, finish, { lease: lease.proof });
      expect((await caller.must(caller.admin, 'GET', `/executions/${prey.execution}`)).status).toBe(
        'started',
      );
      // The proof of the other's lease is worthless for him.
      const open = deploymentsRpc.OpenOperationRequest.fromPartial({
        tenant: 'default_tenant',
        deploymentId: 'd',
        executionId: prey.execution,
        nodeInstanceId: ids.app_b!,
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
    const lease = await ownLease();
    const open = (more: object): Uint8Array =>
      deploymentsRpc.OpenOperationRequest.encode(
        deploymentsRpc.OpenOperationRequest.fromPartial({
          tenant: 'default_tenant',
          deploymentId: 'd',
          executionId: lease.executionId,
          nodeInstanceId: ids.app_a!,
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
      { nodeInstanceId: ids.app_b! },
      { relatedInstanceId: ids.host_b! },
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
    for (const instance of [ids.app_b!, ids.host_b!, alienIds.app_a!])
      expect(
        refusal(
          await stream.call(`${DEPLOYMENTS}/UpdateNodeInstance`, write(instance), { lease: lease.proof }),
        ),
      ).toMatch(/forbidden|not_found/);
    const text = JSON.stringify(await caller.must(caller.admin, 'GET', '/node-instances'));
    expect(text).not.toContain('stolen');
  });

  test('files: those of its blueprint, not those of others', async () => {
    const lease = await ownLease();
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
    const lease = await ownLease();
    const rest = (method: string, path: string, token?: string, body?: object) =>
      requestAs(place, thief, {
        method,
        path: `/api/v3.1${path}`,
        headers: { tenant: 'default_tenant', ...(token ? { 'execution-token': token } : {}) },
        ...(body ? { body } : {}),
      });
    expect((await rest('GET', '/deployments')).status).toBe(401);
    expect((await rest('GET', '/secrets')).status).toBe(401);
    const { executionToken } = lease.assignment;
    expect((await rest('GET', `/node-instances/${ids.app_a}`, executionToken)).status).toBe(200);
    const closed: [string, string, object?][] = [
      ['GET', '/secrets'],
      ['GET', '/secrets/vault'],
      ['PUT', '/secrets/mine', { value: 'x' }],
      ['GET', '/deployments/e'],
      ['GET', '/users'],
      ['POST', '/executions', { deployment_id: 'd', workflow_id: 'install' }],
      ['POST', `/agents/${ids.host_b}/enrolment`, {}],
      ['POST', `/agents/${ids.host_a}/enrolment`, {}],
      ['DELETE', `/agents/${ids.host_b}`],
      ['PATCH', `/agents/${ids.host_b}`, { state: 'failed' }],
      ['PATCH', `/node-instances/${ids.app_b}`, { version: 1, runtime_properties: { stolen: true } }],
      ['PUT', '/deployments/mine', { blueprint_id: 'b' }],
      ['GET', '/agents'],
    ];
    for (const [method, path, body] of closed) {
      const { status, body: text } = await rest(method, path, executionToken, body);
      expect(`${method} ${path}: ${status}`).toMatch(/: 40[34]$/);
      expect(text).not.toContain(SECRET);
    }
    const list = await rest('GET', '/node-instances', executionToken);
    expect(list.body).not.toContain(alienIds.app_a);
  });
});

describe('tokens and certificates', () => {
  test('a token is good for one certificate, also for two at the same moment', async () => {
    const { token, authorities } = await newToken(caller.admin, ids.host_b!);
    const tried = await Promise.allSettled(Array.from({ length: 5 }, () => enrol(place, token, authorities)));
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(enrol(place, token, authorities)).rejects.toThrow('401');
    await expect(enrol(place, `${token}x`, authorities)).rejects.toThrow('401');
    // An older token falls with a newer one.
    const first = await newToken(caller.admin, ids.host_b!);
    await newToken(caller.admin, ids.host_b!);
    await expect(enrol(place, first.token, authorities)).rejects.toThrow('401');
  });

  test('a certificate of a foreign authority is not let in, whatever name is in it', async () => {
    const { agent } = stream.welcome;
    const forged = foreignIdentity(agent.id, thief.authorities);
    await expect(openStream(place, forged)).rejects.toThrow();
    const renew = {
      method: 'POST',
      path: agentPaths.renew,
      body: { signing_request: signingRequest().request },
    };
    await expect(requestAs(place, forged, renew).then(({ status }) => status))
      .resolves.not.toBe(200)
      .catch(() => undefined);
    const { status } = await requestAs(place, { authorities: thief.authorities }, renew);
    expect(status).toBe(401);
    await expect(openTls(place, { ...thief, authorities: forged.certificate })).rejects.toThrow();
  });

  test('who cannot enter agents makes no tokens: another tenant, a user without the right', async () => {
    const viewer = await caller.user('viewer', 'default_tenant', 'viewer');
    for (const who of [viewer, alien, { user: null, tenant: 'default_tenant' }]) {
      const { status } = await caller.send(who, 'POST', `/agents/${ids.host_a}/enrolment`, {});
      expect([401, 403, 404]).toContain(status);
    }
  });

  test('revoked: the stream is cut within 5 s, and no door is open any more', async () => {
    const identity = await newIdentity(caller.admin, ids.host_b!);
    const doomed = await openStream(place, identity, 'doomed');
    const since = performance.now();
    await caller.must(caller.admin, 'POST', `/agents/${ids.host_b}/revoke`);
    await doomed.closed;
    expect(performance.now() - since).toBeLessThan(5_000);
    await expect(openStream(place, identity, 'again')).rejects.toThrow();
    const renew = {
      method: 'POST',
      path: agentPaths.renew,
      body: { signing_request: signingRequest().request, about: someAbout },
    };
    expect((await requestAs(place, identity, renew)).status).toBe(401);
  });

  test('deleted: the same, for the record of an agent and for a whole tenant', async () => {
    const doomed = await openStream(place, await newIdentity(caller.admin, ids.host_b!), 'doomed');
    await caller.must(caller.admin, 'DELETE', `/agents/${ids.host_b}`);
    await doomed.closed;
    const far = await openStream(place, await newIdentity(alien, alienIds.host_a!), 'far');
    await caller.must(alien, 'DELETE', '/deployments/d?force=true');
    await far.closed;
  });

  test('another process with the same certificate takes the stream over, so that a copy is seen', async () => {
    const second = await openStream(place, thief, 'a copy');
    expect((await stream.closed).code).not.toBe(1000);
    second.close();
    stream = await openStream(place, thief);
  });
});
