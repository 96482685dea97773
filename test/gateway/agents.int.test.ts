import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  agentPaths,
  agentsRpc,
  agentTaskReady,
  catalogRpc,
  executionsRpc,
  tasksCancelled,
} from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { type AgentsWorld, leases, newRequest, serialOf, startAgentsWorld, tokenOf } from './agents-world';
import { about } from './test-agent';

const { AgentOrderKind } = agentsRpc;
const packages = mkdtempSync(join(tmpdir(), 'agent-packages-'));
const PACKAGE = 'the bytes of an agent, which are sent in ranges';
const SHA = 'ab'.repeat(32);
writeFileSync(join(packages, 'agent.xz'), PACKAGE);
writeFileSync(
  join(packages, 'index.json'),
  JSON.stringify([
    { platform: 'linux-x64', version: '0.2.0', sha256: SHA, size: PACKAGE.length, file: 'agent.xz' },
    { platform: 'linux-arm64', version: '0.2.0', sha256: SHA, size: 12, file: '../outside' },
  ]),
);

let world: AgentsWorld;
beforeAll(async () => {
  world = await startAgentsWorld({ gateways: 2, env: { BATON_AGENT_PACKAGES: packages } });
});
afterAll(async () => {
  await world.stop();
  rmSync(packages, { recursive: true, force: true });
});

test('an agent is admitted by its certificate and welcomed as the worker of its host', async () => {
  const certificate = await world.certificate('a1');
  const agent = await world.agent('a1', { certificate });
  expect(agent.welcome).toMatchObject({
    protocol: 1,
    agent: { id: 'a1', tenant: 'default_tenant', address: 'default_tenant/a1_host' },
    workerId: 'agent:default_tenant/a1_host',
    settings: { maxWorkers: 5 },
    authorities: world.peers.authority.cert,
  });
  expect(world.peers.admissions.at(-1)).toMatchObject({ agentId: 'a1', serial: serialOf(certificate) });
  expect(JSON.parse(world.peers.admissions.at(-1)!.aboutJson)).toEqual(about);
});

test('its calls are those of this worker, and the answer comes back', async () => {
  const agent = await world.agent('a2');
  const answer = await agent.claim();
  expect(executionsRpc.ClaimAgentTasksResponse.decode(Buffer.from(answer.body!, 'base64'))).toEqual({
    leases: [],
    lost: [],
  });
  expect(world.peers.seen.at(-1)).toEqual({
    method: 'claimAgentTasks',
    workerId: 'agent:default_tenant/a2_host',
  });
});

test('a streamed answer comes in parts, as many as the agent has room for', async () => {
  const agent = await world.agent('a3');
  let made = 0;
  world.peers.catalog.readBlueprintFile = async function* () {
    for (; made < 20; made++) yield { data: Buffer.from([made]) };
  } as never;
  const { ReadBlueprintFileRequest, FileChunk } = catalogRpc;
  const request = ReadBlueprintFileRequest.fromPartial({ tenant: 't', blueprintId: 'b', path: 'x' });
  const lease = leases.prove(
    {
      workerId: agent.welcome.workerId,
      tenant: 't',
      executionId: 'e',
      taskId: 'k',
      attempt: 1,
      deploymentId: 'd',
      blueprintId: 'b',
      inputsDigest: '',
      username: 'admin',
    },
    60_000,
  );
  const path = 'catalog/baton.catalog.v1.CatalogService/ReadBlueprintFile';
  const call = agent.begin(path, ReadBlueprintFileRequest.encode(request).finish(), lease);
  await eventually(async () => agent.parts(call).length === 4);
  // A call that goes through meanwhile shows that nothing more was sent.
  await agent.claim();
  expect([agent.parts(call).length, made < 8]).toEqual([4, true]);
  agent.stream.send({ call, more: 100 });
  expect(await agent.answerOf(call)).toEqual({ call, body: '' });
  const bytes = agent.parts(call).map((part) => FileChunk.decode(Buffer.from(part, 'base64')).data[0]);
  expect(bytes).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test('a call that is given up is aborted at its service', async () => {
  const agent = await world.agent('a4');
  const { executions } = world.peers;
  const { claimAgentTasks: usual } = executions;
  let isAborted = false;
  executions.claimAgentTasks = ((_request: never, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        isAborted = true;
        resolve({ leases: [], lost: [] });
      });
    })) as never;
  const { ClaimAgentTasksRequest } = executionsRpc;
  const request = ClaimAgentTasksRequest.fromPartial({ workerId: agent.welcome.workerId });
  const call = agent.begin(
    'executions/baton.executions.v1.ExecutionsService/ClaimAgentTasks',
    ClaimAgentTasksRequest.encode(request).finish(),
  );
  agent.stream.send({ call, isGivenUp: true });
  await eventually(async () => isAborted);
  executions.claimAgentTasks = usual!;
  expect((await agent.claim()).error).toBeUndefined();
  expect(agent.stream.frames.some((frame) => 'call' in frame && frame.call === call)).toBe(false);
});

test('wake-ups reach the agent whose they are, on whichever gateway it is', async () => {
  const [here, there] = [await world.agent('n1'), await world.agent('n2', { at: 1 })];
  const { executions } = world.peers;
  const usual = executions.claimAgentTasks!;
  executions.claimAgentTasks = (async () => ({
    leases: [{ taskId: 'held', executionId: 'e', attempt: 1, leaseMs: 1, assignmentJson: '{}', proof: '' }],
    lost: [],
  })) as never;
  await there.claim();
  executions.claimAgentTasks = usual;
  const ready = { agent: there.welcome.agent.address, executionId: 'e', taskId: 'k' };
  await world.publish(agentTaskReady, ready);
  expect(await there.stream.notice('task-ready')).toEqual({
    notice: 'task-ready',
    executionId: 'e',
    taskId: 'k',
  });
  const cancelled = { executionId: 'e', taskIds: ['held', 'of another'] };
  await world.publish(tasksCancelled, cancelled);
  expect(await there.stream.notice('tasks-cancelled')).toEqual({
    notice: 'tasks-cancelled',
    taskIds: ['held'],
  });
  expect(here.stream.frames.filter((frame) => 'notice' in frame)).toEqual([]);
});

describe('reports to deployments', () => {
  const reported = (name: string) =>
    world.peers.reports.flatMap(({ agents }) => agents).filter(({ agentId }) => agentId === name);

  test('name the packages once, each agent, its news once, and its end', async () => {
    const agent = await world.agent('r1');
    await eventually(async () => reported('r1').length > 0);
    expect(reported('r1')[0]).toMatchObject({ aboutJson: '', silentMs: expect.any(Number) });
    agent.stream.send({ about: { ...about, running: 3 } });
    await eventually(async () => reported('r1').some(({ aboutJson }) => aboutJson.includes('"running":3')));
    agent.stream.ws.close();
    await eventually(async () =>
      world.peers.reports.some(({ gone }) => gone.some(({ agentId }) => agentId === 'r1')),
    );
    const told = world.peers.reports.filter(({ packages: named }) => named.length > 0);
    expect(told.map(({ packages: named }) => named)).toEqual(
      Array.from({ length: 2 }, () => [
        { platform: 'linux-x64', version: '0.2.0', sha256: SHA, size: PACKAGE.length },
      ]),
    );
  });

  test('name an agent that has news at once, and the others now and then', async () => {
    const busy = await world.agent('busy');
    await world.agent('quiet');
    await eventually(async () => {
      busy.stream.send({ about: { ...about, running: reported('busy').length } });
      return reported('quiet').length >= 2;
    });
    const names = world.peers.reports.map(({ agents }) => agents.map(({ agentId }) => agentId));
    const [first, second] = [names.findIndex(isQuiet), names.findLastIndex(isQuiet)];
    expect(names.slice(first + 1, second).filter((them) => them.includes('busy'))).not.toEqual([]);
  });
  const isQuiet = (names: readonly string[]) => names.includes('quiet');

  test('are answered with orders, which the agent gets; CUT ends its stream', async () => {
    const { stream } = await world.agent('r2');
    const of = (kind: agentsRpc.AgentOrderKind, detail: object) =>
      world.peers.orders.push({ agentId: 'r2', kind, detailJson: JSON.stringify(detail) });
    of(AgentOrderKind.AGENT_ORDER_KIND_TRUST, { authorities: world.peers.authority.cert, renew: true });
    of(AgentOrderKind.AGENT_ORDER_KIND_UPGRADE, {
      platform: 'linux-x64',
      version: '9',
      sha256: SHA,
      size: 1,
    });
    expect(await stream.notice('trust')).toMatchObject({ renew: true });
    expect(await stream.notice('upgrade')).toMatchObject({ package: { version: '9' } });
    of(AgentOrderKind.AGENT_ORDER_KIND_CUT, { reason: 'it was revoked' });
    expect(await stream.closed).toEqual({ code: 4401, reason: 'it was revoked' });
  });
});

test('a later stream of the same agent takes the place of the first', async () => {
  const first = await world.agent('s1');
  const second = await world.agent('s1');
  expect(await first.stream.closed).toMatchObject({ code: 4409 });
  expect((await second.claim()).error).toBeUndefined();
});

describe('certificates', () => {
  test('a token enrols an agent without a certificate, and an unknown one does not', async () => {
    const signing_request = await newRequest();
    const good = await world.ask('POST', agentPaths.enrol, {
      body: { token: tokenOf('e1'), signing_request, about },
    });
    expect(good.status).toBe(200);
    expect(JSON.parse(good.body)).toMatchObject({
      certificate: expect.stringContaining('BEGIN CERTIFICATE'),
      agent: { id: 'e1', name: 'e1' },
      settings: { maxWorkers: 5 },
    });
    const bad = await world.ask('POST', agentPaths.enrol, { body: { token: 'no', signing_request, about } });
    expect([bad.status, JSON.parse(bad.body).error_code]).toEqual([401, 'unauthorized_error']);
    const odd = await world.ask('POST', agentPaths.enrol, { body: { token: 'no' } });
    expect([odd.status, JSON.parse(odd.body).error_code]).toEqual([400, 'bad_parameters_error']);
  });

  test('the present certificate gets the next one; without it there is none', async () => {
    const body = { signing_request: await newRequest() };
    const certificate = await world.certificate('e2');
    const renewed = await world.ask('POST', agentPaths.renew, { certificate, body });
    expect([renewed.status, JSON.parse(renewed.body).agent.id]).toEqual([200, 'e2']);
    expect((await world.ask('POST', agentPaths.renew, { body })).status).toBe(401);
  });
});

describe('packages and install scripts are open to everybody, on both listeners', () => {
  const plain = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${world.gateways[0]}${path}`, { headers });

  test('packages', async () => {
    const list = await plain(agentPaths.packages);
    const expected = [{ platform: 'linux-x64', version: '0.2.0', sha256: SHA, size: PACKAGE.length }];
    expect(await list.json()).toEqual(expected);
    expect(JSON.parse((await world.ask('GET', agentPaths.packages)).body)).toEqual(expected);
    const path = `${agentPaths.packages}/linux-x64`;
    const whole = await plain(path);
    expect([whole.status, await whole.text(), whole.headers.get('etag')]).toEqual([200, PACKAGE, `"${SHA}"`]);
    const rest = await plain(path, { range: 'bytes=4-8' });
    expect([rest.status, await rest.text()]).toEqual([206, PACKAGE.slice(4, 9)]);
    expect((await plain(path, { 'if-none-match': `"${SHA}"` })).status).toBe(304);
    expect((await plain(`${agentPaths.packages}/linux-arm64`)).status).toBe(404);
    expect((await plain(`${agentPaths.packages}/..%2f..%2fetc`)).status).toBe(404);
  });

  test('install scripts', async () => {
    const script = await plain(`${agentPaths.install}/good-link-0123456789`);
    expect([script.status, await script.text()]).toEqual([200, '#!/bin/sh\necho hello\n']);
    expect(script.headers.get('cache-control')).toBe('no-store');
    expect((await world.ask('GET', `${agentPaths.install}/another-link-0123`)).status).toBe(404);
  });

  test('the API is there too, with the credentials of the request', async () => {
    expect((await world.ask('GET', '/api/v3.1/open')).status).toBe(200);
    expect((await world.ask('GET', '/api/v3.1/who')).status).toBe(401);
    const authorization = `Basic ${Buffer.from('admin:admin').toString('base64')}`;
    expect((await world.ask('GET', '/api/v3.1/who', { headers: { authorization } })).status).toBe(200);
  });
});

test('a gateway that stops sends its agents away', async () => {
  const other = await startAgentsWorld();
  const agent = await other.agent('l1');
  const stopped = other.stopGateway(0);
  expect(await agent.stream.notice('leaving')).toMatchObject({ afterMs: expect.any(Number) });
  agent.stream.ws.close();
  await stopped;
  expect(other.peers.reports.at(-1)!.gone).toMatchObject([{ agentId: 'l1' }]);
  await other.stop();
});
