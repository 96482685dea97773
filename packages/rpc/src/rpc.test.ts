import { createServer, type Server } from 'node:net';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { clusterStatusRpc, doctorRpc } from '@baton/contracts';
import { AppError, type Log, Secret, silentLog } from '@baton/kernel';
import { type CallerCredential, createLeaseProofs, derivedTrust, serviceCredential } from '@baton/trust';
import { Client, credentials } from '@grpc/grpc-js';
import {
  createGrpcConnector,
  createLocalRpc,
  createRelayedRpc,
  createRpcRelay,
  createRpcServer,
  type ObservedCall,
  type RpcChannel,
  type RpcConnector,
  type RpcHandlers,
} from './index';
import { rpcContract, type ServeAll } from './rpc.contract';

type Services = Parameters<ServeAll>[0];

const key = new Secret('internal key');
const { identity, bundle } = derivedTrust('executions', key);
const guard = { bundle, services: ['cluster-status' as const], leases: createLeaseProofs(key) };
/** One method is enough here, whatever methods the service gets later. */
const ClusterStatusServiceDefinition = {
  ...clusterStatusRpc.ClusterStatusServiceDefinition,
  methods: { report: clusterStatusRpc.ClusterStatusServiceDefinition.methods.report },
} as const;

async function freePort(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const grpc = async (services: Services, log: Log) => {
  const server = createRpcServer({ log });
  for (const s of services) server.serve(s.definition, s.handlers as never);
  server.serve(doctorRpc.DoctorPartServiceDefinition, { examine: async () => ({ findings: [] }) });
  const address = `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  const away = `127.0.0.1:${await freePort()}`;
  const connector = createGrpcConnector({
    addresses: { 'cluster-status': address, catalog: address, secrets: away },
    log,
  });
  return {
    connector,
    stop: async () => {
      connector.close();
      await server.close(1000);
    },
  };
};

rpcContract('gRPC', grpc);

/** Returns a log, and a promise that resolves when calls to that many services have switched to streams. */
function streamsOpen(log: Log, services: number) {
  let left = services;
  let resolve!: () => void;
  const opened = new Promise<void>((done) => {
    resolve = done;
  });
  const debug: Log['debug'] = (_fields, text) => {
    if (text === 'calls share a stream' && --left === 0) resolve();
  };
  return { log: { ...log, debug }, opened };
}

rpcContract('gRPC by call streams', async (services, outer) => {
  const { log, opened } = streamsOpen(outer, 2);
  const under = await grpc(services, log);
  for (const service of ['cluster-status', 'catalog'] as const)
    await under.connector.client(doctorRpc.DoctorPartServiceDefinition, service).examine({});
  await opened;
  return under;
});

rpcContract('local', async (services, log) => {
  const local = createLocalRpc({ log });
  for (const s of services) local.serve(s.service, s.definition, s.handlers as never);
  return { connector: local, stop: async () => undefined };
});

/** Both ends of a channel, as between two processes: values that are not JSON do not arrive. */
function channelPair() {
  const { port1, port2 } = new MessageChannel();
  let isOpen = true;
  const end = (port: MessagePort): RpcChannel => ({
    isOpen: () => isOpen,
    send: (message) => port.postMessage(JSON.stringify(message)),
    onMessage: (call) => void port.on('message', (text: string) => call(JSON.parse(text))),
    onClose: (call) => void port.once('close', call),
    close: () => {
      isOpen = false;
      port.close();
    },
  });
  return [end(port1), end(port2)] as const;
}

const unclosed = (connector: RpcConnector) => ({
  client: connector.client.bind(connector),
  close: () => undefined,
});

rpcContract('relay', async (services, log) => {
  const local = createLocalRpc({ log });
  const relay = createRpcRelay(local);
  for (const s of services) {
    local.serve(s.service, s.definition, s.handlers as never);
    relay.serve(s.service, s.definition);
  }
  relay.serve('secrets', ClusterStatusServiceDefinition);
  const [near, far] = channelPair();
  relay.attach(far);
  const connector = createRelayedRpc(near, unclosed(local));
  return { connector, stop: async () => connector.close() };
});

test('calls find another way when the channel of a relay closes, also those under way', async () => {
  const behind = createLocalRpc();
  const relay = createRpcRelay(behind);
  let asked!: () => void;
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  behind.serve('cluster-status', ClusterStatusServiceDefinition, {
    report: (_request, call) =>
      new Promise((_, reject) => {
        asked();
        call.signal.addEventListener('abort', () => reject(new AppError('request_timeout_error', 'gone')));
      }),
  });
  relay.serve('cluster-status', ClusterStatusServiceDefinition);
  const other = createLocalRpc();
  other.serve('cluster-status', ClusterStatusServiceDefinition, {
    report: async () => ({ maintenance: 'other' }),
  });
  const [near, far] = channelPair();
  relay.attach(far);
  const client = createRelayedRpc(near, unclosed(other)).client(
    ClusterStatusServiceDefinition,
    'cluster-status',
  );
  const underWay = client.report({});
  await wasAsked;
  far.close();
  expect(await underWay).toEqual({ maintenance: 'other' });
  expect(await client.report({})).toEqual({ maintenance: 'other' });
});

test('callers outlast a restart of the service', async () => {
  const port = await freePort();
  const connector = createGrpcConnector({
    addresses: { 'cluster-status': `127.0.0.1:${port}` },
    log: silentLog,
  });
  const client = connector.client(ClusterStatusServiceDefinition, 'cluster-status');
  const answer = client.report({});
  const start = async (text: string) => {
    const server = createRpcServer({ log: silentLog });
    server.serve(ClusterStatusServiceDefinition, { report: async () => ({ maintenance: text }) });
    await server.listen('127.0.0.1', port);
    return server;
  };
  const first = await start('one');
  expect(await answer).toEqual({ maintenance: 'one' });
  await first.close();
  const later = client.report({});
  const second = await start('two');
  expect(await later).toEqual({ maintenance: 'two' });
  connector.close();
  await second.close();
});

describe('a call stream', () => {
  type Report = RpcHandlers<typeof ClusterStatusServiceDefinition>['report'];

  async function streaming(report: Report) {
    const { log, opened } = streamsOpen(silentLog, 1);
    const observed: ObservedCall[] = [];
    const server = createRpcServer({ log, observe: (call) => void observed.push(call) });
    server.serve(doctorRpc.DoctorPartServiceDefinition, { examine: async () => ({ findings: [] }) });
    server.serve(ClusterStatusServiceDefinition, { report });
    const port = await server.listen('127.0.0.1', 0);
    const connector = createGrpcConnector({ addresses: { 'cluster-status': `127.0.0.1:${port}` }, log });
    await connector.client(doctorRpc.DoctorPartServiceDefinition, 'cluster-status').examine({});
    await opened;
    return {
      client: connector.client(ClusterStatusServiceDefinition, 'cluster-status'),
      connector,
      server,
      port,
      observed,
    };
  }

  test('a server that leaves answers what is under way, and ends without waiting for its callers to close', async () => {
    let answer!: () => void;
    let asked!: () => void;
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const s = await streaming(
      () =>
        new Promise((resolve) => {
          answer = () => resolve({ maintenance: 'last' });
          asked();
        }),
    );
    const underWay = s.client.report({});
    await wasAsked;
    const closed = s.server.close(60_000);
    answer();
    expect(await underWay).toEqual({ maintenance: 'last' });
    await closed;
    s.connector.close();
  });

  test('what was under way when it broke is asked again, alone, and later calls find a stream again', async () => {
    let asked!: () => void;
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const s = await streaming(async () => {
      asked();
      return await new Promise<never>(() => undefined);
    });
    const underWay = s.client.report({});
    await wasAsked;
    await s.server.close(0);
    const second = createRpcServer({ log: silentLog });
    second.serve(ClusterStatusServiceDefinition, { report: async () => ({ maintenance: 'second' }) });
    await second.listen('127.0.0.1', s.port);
    expect(await underWay).toEqual({ maintenance: 'second' });
    expect(await s.client.report({})).toEqual({ maintenance: 'second' });
    s.connector.close();
    await second.close();
  });

  test('large requests and answers arrive, as do many at a time, each with its own', async () => {
    const s = await streaming(async ({ service }) => ({ maintenance: service }));
    const texts = Array.from({ length: 200 }, (_, i) => `${i}`.repeat(i === 7 ? 3_000_000 : i * 10));
    const answers = await Promise.all(texts.map((service) => s.client.report({ service })));
    expect(answers.map(({ maintenance }) => maintenance)).toEqual(texts);
    expect(s.observed.filter(({ code }) => code === 'ok')).toHaveLength(201);
    s.connector.close();
    await s.server.close();
  });
});

test('a caller without a token is refused, long details are cut, health answers', async () => {
  const server = createRpcServer({ log: silentLog, guard });
  const diagnostics = Array.from({ length: 500 }, (_, n) => ({ n, text: 'x'.repeat(50) }));
  server.serve(ClusterStatusServiceDefinition, {
    report: async () => {
      throw new AppError('invalid_blueprint_error', 'm', { field: 'f', diagnostics });
    },
  });
  const address = `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  const connect = (credential?: CallerCredential) =>
    createGrpcConnector({ addresses: { 'cluster-status': address }, log: silentLog, credential });
  const [open, known] = [connect(), connect(serviceCredential(identity))];
  await expect(
    open.client(ClusterStatusServiceDefinition, 'cluster-status').report({}),
  ).rejects.toMatchObject({ code: 'unauthorized_error' });
  await expect(
    known.client(ClusterStatusServiceDefinition, 'cluster-status').report({}),
  ).rejects.toMatchObject({
    code: 'invalid_blueprint_error',
    details: { field: 'f', isTruncated: true, diagnostics: diagnostics.slice(0, 10) },
  });
  const probe = new Client(address, credentials.createInsecure());
  const health = await new Promise((resolve, reject) => {
    probe.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      () => Buffer.alloc(0),
      (b: Buffer) => b[1],
      {},
      (error, value) => (error ? reject(error) : resolve(value)),
    );
  });
  expect(health).toBe(1);
  for (const c of [open, known, probe]) c.close();
  await server.close();
});
