import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { clusterStatusRpc } from '@baton/contracts';
import { Secret, silentLog } from '@baton/kernel';
import {
  createLeaseProofs,
  derivedTrust,
  newWorkerKey,
  serviceCredential,
  signCertificate,
  workerTokens,
} from '@baton/trust';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { type Client, credentials, loadPackageDefinition, Metadata, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import { createHealthService } from './health';
import { createRpcServer, type RpcServerOptions } from './index';
import { TOKEN_HEADER } from './shown';

const key = new Secret('internal key');
const { identity, bundle } = derivedTrust('executions', key);
const guard = { bundle, services: ['cluster-status' as const], leases: createLeaseProofs(key) };
const reflectionProtos = ['v1', 'v1alpha'].map((version) =>
  join(
    dirname(require.resolve('@grpc/reflection/package.json')),
    `build/proto/grpc/reflection/${version}/reflection.proto`,
  ),
);

type Answer = Record<string, unknown>;
interface HealthClient extends Client {
  check(request: object, done: (error: { code: number } | null, answer: Answer) => void): void;
  list(request: object, done: (error: { code: number } | null, answer: Answer) => void): void;
  watch(request: object): AsyncIterable<Answer> & { cancel(): void };
}
interface ReflectionClient extends Client {
  serverReflectionInfo(metadata: Metadata): AsyncIterable<Answer> & { write(r: object): void; end(): void };
}
type Types = Record<string, any>;
const types = loadPackageDefinition(
  loadSync([protoPath, ...reflectionProtos], {
    keepCase: true,
    enums: String,
    oneofs: true,
    defaults: false,
  }),
) as unknown as { grpc: { health: Types; reflection: Types } };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function serve(o: Partial<RpcServerOptions> = {}) {
  const server = createRpcServer({ log: silentLog, ...o });
  server.serve(clusterStatusRpc.ClusterStatusServiceDefinition, {
    report: async () => ({ maintenance: '', configRevision: undefined }),
    getConfig: async () => ({ configJson: '{}' }) as never,
  });
  undo.push(() => server.close(1_000));
  const address = `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  const health: HealthClient = new types.grpc.health.v1.Health(address, credentials.createInsecure());
  const reflections = ['v1', 'v1alpha'].map(
    (version): ReflectionClient =>
      new types.grpc.reflection[version].ServerReflection(address, credentials.createInsecure()),
  );
  undo.push(() => {
    for (const client of [health, ...reflections]) client.close();
  });
  return { server, health, reflections };
}

const ask = (client: HealthClient, method: 'check' | 'list', request: object = {}) =>
  new Promise<Answer | number>((resolve) => {
    client[method](request, (error, answer) => resolve(error ? error.code : answer));
  });

describe('health', () => {
  test('follows readiness, tells strangers nothing else, and is alive as long as it answers', async () => {
    let isReady = false;
    const { health } = await serve({ guard, isReady: async () => isReady });
    expect(await ask(health, 'check')).toEqual({ status: 'NOT_SERVING' });
    isReady = true;
    expect(await ask(health, 'check')).toEqual({ status: 'SERVING' });
    isReady = false;
    expect(await ask(health, 'check', { service: 'liveness' })).toEqual({ status: 'SERVING' });
    expect(await ask(health, 'list')).toEqual({
      statuses: { '': { status: 'NOT_SERVING' }, liveness: { status: 'SERVING' } },
    });
    const named = { service: 'baton.cluster_status.v1.ClusterStatusService' };
    expect(await ask(health, 'check', named)).toBe(status.NOT_FOUND);
  });

  test('who watches hears of a change, and of the end, for which nobody waits', async () => {
    const { health, server } = await serve();
    const heard: unknown[] = [];
    for await (const answer of health.watch({})) {
      heard.push(answer.status);
      if (heard.length === 1) void server.close(60_000);
    }
    expect(heard).toEqual(['SERVING', 'NOT_SERVING']);
    expect(await ask(health, 'check')).toBe(status.UNAVAILABLE);
  });

  test('a change of readiness is found while somebody watches, and only then looked for', async () => {
    let looks = 0;
    const service = createHealthService({ isReady: async () => ++looks % 2 === 1, lookEveryMs: 5 });
    const heard: unknown[] = [];
    let enough!: () => void;
    const seen = new Promise<void>((resolve) => {
      enough = resolve;
    });
    let watch!: (call: object) => void;
    service.addTo({ addService: (_, own) => void (watch = own['/grpc.health.v1.Health/Watch'] as never) });
    let cancelled!: () => void;
    watch({
      request: Buffer.alloc(0),
      on: (_: string, listener: () => void) => void (cancelled = listener),
      // Field 1: 1 is SERVING, 2 NOT_SERVING.
      write: (bytes: Buffer) => heard.push(bytes[1]) === 3 && enough(),
      end: () => undefined,
    });
    await seen;
    expect(heard.slice(0, 3)).toEqual([1, 2, 1]);
    cancelled();
    const before = looks;
    await new Promise((resolve) => setImmediate(resolve));
    expect(looks).toBe(before);
  });
});

/** Returns the answers to the questions, or the status of the refusal. */
async function reflected(client: ReflectionClient, questions: object[], token?: string) {
  const metadata = new Metadata();
  if (token !== undefined) metadata.set(TOKEN_HEADER, token);
  const call = client.serverReflectionInfo(metadata);
  for (const question of questions) call.write(question);
  call.end();
  const answers: any[] = [];
  try {
    for await (const answer of call) answers.push(answer);
  } catch (error) {
    return (error as { code: number }).code;
  }
  return answers;
}

const listed = [
  'baton.cluster_status.v1.ClusterStatusService',
  'baton.rpc.v1.CallStreamService',
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
];
const names = (answer: any) => answer.list_services_response.service.map((s: { name: string }) => s.name);

describe('reflection', () => {
  test('names what is served, and describes it as proto/ does', async () => {
    const { reflections } = await serve();
    for (const client of reflections) {
      const [list, file, unknown] = (await reflected(client, [
        { list_services: '' },
        { file_containing_symbol: 'baton.cluster_status.v1.ReportResponse' },
        { file_containing_symbol: 'baton.secrets.v1.SecretsService' },
      ])) as any[];
      expect(names(list).sort()).toEqual(listed);
      const [bytes] = file.file_descriptor_response.file_descriptor_proto;
      const descriptor = fromBinary(FileDescriptorProtoSchema, bytes);
      expect(descriptor.service[0]!.method.map((method) => method.name)).toEqual(['Report', 'GetConfig']);
      const response = descriptor.messageType.find(({ name }) => name === 'ReportResponse')!;
      expect(response.field[1]).toMatchObject({ name: 'config_revision', proto3Optional: true });
      expect(unknown.error_response).toMatchObject({ error_code: status.NOT_FOUND });
    }
  });

  test('where calls are guarded it answers services of the manager alone', async () => {
    const { reflections } = await serve({ guard });
    const [client] = reflections;
    const worker = newWorkerKey();
    const certificate = signCertificate(identity, { workerId: 'w1', publicKey: worker.publicKey });
    const list = [{ list_services: '' }];
    expect(await reflected(client!, list)).toBe(status.UNAUTHENTICATED);
    expect(await reflected(client!, list, 'no token')).toBe(status.UNAUTHENTICATED);
    const ofWorker = workerTokens(worker, certificate)('cluster-status');
    expect(await reflected(client!, list, ofWorker)).toBe(status.PERMISSION_DENIED);
    const ofService = serviceCredential(identity).tokenFor('cluster-status')!;
    expect(names(((await reflected(client!, list, ofService)) as any[])[0]).sort()).toEqual(listed);
  });
});

test('bytes that are no message end their call, and nothing else', async () => {
  const { health, reflections } = await serve();
  const [client] = reflections;
  const garbage = () => Buffer.from([0x0a, 0xff]);
  const [path, asIs] = ['/grpc.health.v1.Health/Check', (bytes: Buffer) => bytes];
  const checked = new Promise((resolve) =>
    health.makeUnaryRequest(path, garbage, asIs, {}, (error) => resolve(error?.code)),
  );
  expect(await checked).toBe(status.INVALID_ARGUMENT);
  const stream = client!.makeBidiStreamRequest(
    '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    garbage,
    asIs,
  );
  const [failed] = await Promise.all([once(stream, 'error'), stream.write({})]);
  expect(failed).toMatchObject([{ code: status.INVALID_ARGUMENT }]);
  expect(await ask(health, 'check')).toEqual({ status: 'SERVING' });
  expect(names(((await reflected(client!, [{ list_services: '' }])) as any[])[0])).toEqual(
    expect.arrayContaining(listed),
  );
});
