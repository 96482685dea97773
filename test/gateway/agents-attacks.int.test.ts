/** What hostile hosts and clients try at the listener of agents. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { AGENT_SERVER_NAME, agentPaths, executionsRpc } from '@baton/contracts';
import { systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { createAuthority } from '@baton/tls/authority';
import { type AgentsWorld, startAgentsWorld } from './agents-world';
import { about, CLAIM, type TestStream } from './test-agent';

let world: AgentsWorld;
beforeAll(async () => {
  world = await startAgentsWorld({ env: { BATON_MAX_AGENTS: '40' } });
});
afterAll(() => world.stop());

const hello = { hello: { protocol: 1, processId: 'p', about } };
/** The gateway goes on: another agent is served. */
const isServing = async (name: string): Promise<void> => {
  const agent = await world.agent(name);
  expect((await agent.claim()).error).toBeUndefined();
  agent.stream.ws.close();
};
async function opened(name: string): Promise<TestStream> {
  const stream = world.stream(await world.certificate(name));
  await stream.opened();
  return stream;
}

/** Others that were open a moment ago may still have their place. */
const openedSoon = (name: string): Promise<TestStream> => eventually(() => opened(name));

describe('who gets no stream', () => {
  test('a client without a certificate: 401', async () => {
    expect(await world.stream(null).refused).toBe(401);
  });

  test('a certificate of another authority, and one that has ended, end with the handshake', async () => {
    const foreign = await createAuthority('agents', systemClock.now());
    const stranger = world.stream(await foreign.issue({ names: ['a'], nowMs: systemClock.now() }));
    const old = world.stream(await world.certificate('a', -0.01));
    expect((await stranger.closed).code).toBe(1006);
    expect((await old.closed).code).toBe(1006);
    expect(world.peers.admissions).toEqual([]);
  });

  test('a revoked certificate: closed with the reason', async () => {
    world.peers.revoked.add('revoked');
    const stream = await opened('revoked');
    stream.send(hello);
    expect(await stream.closed).toEqual({ code: 4401, reason: 'The certificate is revoked' });
  });

  test('a certificate that ends while its agent is connected', async () => {
    const certificate = await world.certificate('short', 3 / 86_400);
    const { stream } = await world.agent('short', { certificate });
    expect(await stream.closed).toMatchObject({ code: 4401 });
  });

  test('another path: 404', async () => {
    expect(await world.stream(await world.certificate('a'), { path: '/agent/v1/other' }).refused).toBe(404);
  });

  test('a fifth stream of one agent: 429', async () => {
    const certificate = await world.certificate('five');
    const streams = Array.from({ length: 4 }, () => world.stream(certificate));
    await Promise.all(streams.map((stream) => stream.opened()));
    expect(await world.stream(certificate).refused).toBe(429);
    for (const stream of streams) stream.ws.terminate();
  });

  test('one more than there is room for: 503, until one leaves', async () => {
    const streams = await Promise.all(Array.from({ length: 40 }, (_, i) => openedSoon(`many${i}`)));
    expect(await world.stream(await world.certificate('late')).refused).toBe(503);
    for (const stream of streams) stream.ws.terminate();
    await eventually(async () => {
      const stream = await opened('late');
      stream.ws.terminate();
    });
  });
});

describe('what ends a stream', () => {
  const broken: [string, (stream: TestStream) => void, number][] = [
    ['a second hello', (stream) => stream.send(hello), 1008],
    ['a message of no known form', (stream) => stream.send({ give: 'everything' }), 1008],
    ['what is no JSON', (stream) => stream.ws.send('{"call":'), 1008],
    ['bytes', (stream) => stream.ws.send(Buffer.from([1, 2])), 1003],
    ['a message above 8 MiB', (stream) => stream.ws.send('x'.repeat(8 * 1024 * 1024 + 1)), 1009],
  ];
  test.each(broken)('%s', async (_what, attack, code) => {
    const agent = await world.agent('b1');
    attack(agent.stream);
    expect(await agent.stream.closed).toMatchObject({ code });
    await isServing('b2');
  });

  test('a call before the welcome', async () => {
    const stream = await opened('b3');
    stream.send({ call: 1, path: CLAIM, body: '', deadlineMs: 1_000 });
    expect(await stream.closed).toMatchObject({ code: 1008 });
  });

  test('a number of a call that is under way', async () => {
    const agent = await world.agent('b4');
    const { executions } = world.peers;
    const usual = executions.claimAgentTasks!;
    executions.claimAgentTasks = () => new Promise(() => undefined);
    const body = Buffer.from(
      executionsRpc.ClaimAgentTasksRequest.encode(
        executionsRpc.ClaimAgentTasksRequest.fromPartial({ workerId: agent.welcome.workerId }),
      ).finish(),
    ).toString('base64');
    for (const _ of [1, 2]) agent.stream.send({ call: 1, path: CLAIM, body, deadlineMs: 1_000 });
    expect(await agent.stream.closed).toMatchObject({ code: 1008 });
    executions.claimAgentTasks = usual;
  });
});

describe('what calls are refused', () => {
  test('in the name of another agent', async () => {
    const agent = await world.agent('c1');
    const answer = await agent.claim('agent:default_tenant/c2_host');
    expect(answer.error).toMatchObject({
      code: 'forbidden_error',
      message: expect.stringContaining('workerId'),
    });
    expect(world.peers.seen.some(({ workerId }) => workerId.includes('c2_host'))).toBe(false);
  });

  test.each([
    'executions/baton.executions.v1.ExecutionsService/StartExecution',
    'executions/baton.executions.v1.WorkersService/RegisterAgent',
    'deployments/baton.deployments.v1.AgentsService/EnrolAgent',
    'secrets/baton.secrets.v1.SecretsService/GetSecretValues',
    'executions/baton.executions.v1.ExecutionsService/__proto__',
    '',
  ])('of a method that is not for agents: %s', async (path) => {
    const agent = await world.agent('c3');
    expect((await agent.call(path, Buffer.alloc(0))).error).toMatchObject({ code: 'forbidden_error' });
    agent.stream.ws.close();
  });

  test('that are no request of the method, and that show no lease where one is needed', async () => {
    const agent = await world.agent('c4');
    expect((await agent.call(CLAIM, Buffer.from([0xff, 0xff, 0xff]))).error).toMatchObject({
      code: 'bad_parameters_error',
    });
    const read = 'catalog/baton.catalog.v1.CatalogService/ReadBlueprintFile';
    expect((await agent.call(read, Buffer.alloc(0))).error).toMatchObject({ code: 'forbidden_error' });
  });

  test('beyond 64 at once; the others are answered', async () => {
    const agent = await world.agent('c5');
    const { executions } = world.peers;
    const usual = executions.claimAgentTasks!;
    let go!: () => void;
    const open = new Promise<void>((resolve) => {
      go = resolve;
    });
    executions.claimAgentTasks = () => open.then(() => ({ leases: [], lost: [] }));
    const request = executionsRpc.ClaimAgentTasksRequest.fromPartial({ workerId: agent.welcome.workerId });
    const body = executionsRpc.ClaimAgentTasksRequest.encode(request).finish();
    const calls = Array.from({ length: 1_000 }, () => agent.begin(CLAIM, body));
    const answers = (isError: boolean) =>
      agent.stream.frames.filter((frame) => 'call' in frame && 'error' in frame === isError).length;
    await eventually(async () => answers(true) === 936);
    go();
    expect((await agent.answerOf(calls[63]!)).error).toBeUndefined();
    await eventually(async () => answers(false) === 64);
    executions.claimAgentTasks = usual;
    expect((await agent.claim()).error).toBeUndefined();
  });
});

test('an agent that reads nothing gets no more than a bounded part, and the others go on', async () => {
  const agent = await world.agent('d1');
  const { executions } = world.peers;
  const usual = executions.claimAgentTasks!;
  let answered = 0;
  const assignmentJson = 'x'.repeat(1024 * 1024);
  executions.claimAgentTasks = async () => {
    answered += 1;
    return {
      leases: [{ taskId: 't', executionId: 'e', attempt: 1, leaseMs: 1, assignmentJson, proof: '' }],
      lost: [],
    };
  };
  agent.stream.ws.pause();
  const request = executionsRpc.ClaimAgentTasksRequest.fromPartial({ workerId: agent.welcome.workerId });
  const body = executionsRpc.ClaimAgentTasksRequest.encode(request).finish();
  for (let i = 0; i < 300; i++) agent.begin(CLAIM, body);
  await eventually(async () => answered > 0);
  executions.claimAgentTasks = usual;
  await isServing('d2');
  expect(answered).toBeLessThan(100);
  agent.stream.ws.terminate();
});

describe('at the port', () => {
  const raw = async (bytes: Buffer | string): Promise<string> => {
    const socket = connect(world.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(bytes);
    return await text(socket).catch(() => '');
  };

  test('what begins like TLS and is none is closed', async () => {
    await raw(Buffer.from([0x16, 3, 1, 0, 4, 1, 2, 3, 4, 5, 6, 7]));
    await raw(Buffer.concat([Buffer.from([0x16, 3, 1, 0xff, 0xff]), Buffer.alloc(100_000, 7)]));
    await isServing('f1');
  });

  test('a handshake that does not go on is cut', async () => {
    const socket = connect(world.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.from([0x16, 3, 1, 1, 0, 1, 0]));
    await once(socket, 'close');
  }, 20_000);

  test('HTTP goes on as before: bytes one by one, a body after its headers, pipelined requests', async () => {
    const slowly = connect(world.port, '127.0.0.1');
    for (const byte of 'GET /api/v3.1/open HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
      slowly.write(byte);
    expect(await text(slowly)).toMatch(/^HTTP\/1.1 200 /);
    const twice = 'GET /api/v3.1/open HTTP/1.1\r\nhost: x\r\n\r\n';
    const last = 'GET /api/v3.1/open HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    expect((await raw(twice + twice + last)).match(/HTTP\/1.1 200 /g)).toHaveLength(3);
  });

  test('a request within a request is refused, over TLS as without it', async () => {
    const smuggled =
      'POST /api/v3.1/open HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n';
    expect(await raw(smuggled)).toMatch(/^HTTP\/1.1 400 /);
    const secure = connectTls({
      port: world.port,
      host: '127.0.0.1',
      servername: AGENT_SERVER_NAME,
      ca: world.peers.authority.cert,
    });
    secure.write(smuggled);
    const answer = await text(secure);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer.match(/HTTP\/1.1 \d/g)).toHaveLength(1);
  });

  test('a body of an enrolment above 64 KiB is refused', async () => {
    const large = await world.ask('POST', agentPaths.enrol, { body: { token: 'x'.repeat(70_000) } });
    expect(large.status).toBe(413);
  });

  test('the stream is not open without TLS', async () => {
    const upgrade = `GET ${agentPaths.stream} HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n`;
    expect(await raw(upgrade)).toMatch(/^HTTP\/1.1 404 /);
  });
});
