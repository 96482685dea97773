// Every rpc method over real gRPC, one end with generated code, the other with proto-loader from proto/. Both must agree on
// names, paths, streams and every field of every message. Samples come from the descriptors, so new methods are covered
// automatically.
import { EventEmitter, once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as contracts from '@baton/contracts';
import { type Log, silentLog } from '@baton/kernel';
import { createGrpcConnector, createRpcServer, type ServiceDefinition } from '@baton/rpc';
import {
  Client,
  type ClientDuplexStream,
  credentials,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {
  type ServiceDefinition as Loaded,
  type MethodDefinition as LoadedMethod,
  loadSync,
} from '@grpc/proto-loader';
import { fullnesses, registry, type Sample, Sampler } from './rpc-samples';

const root = join(__dirname, '../../proto');
const loaded = loadSync(
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.proto')),
  { includeDirs: [root], longs: Number, enums: Number, defaults: true },
);
const CALL_STREAM = 'baton.rpc.v1.CallStreamService';

const definitions = Object.values(contracts)
  .flatMap((file) => (typeof file === 'object' ? Object.entries(file) : []))
  .filter(([name]) => name.endsWith('ServiceDefinition'))
  .map(([, definition]) => definition as unknown as ServiceDefinition);

interface Case {
  path: string;
  definition: ServiceDefinition;
  /** The method name in generated code. */
  name: string;
  streams: boolean;
  method: LoadedMethod<object, object>;
  request: Sample;
  response: Sample;
}

const sampler = new Sampler();
const loadedMethods = Object.entries(loaded).flatMap(([service, definition]) =>
  service.startsWith('baton.') && !('format' in definition)
    ? Object.values(definition as Loaded).map((method) => ({
        service,
        method: method as LoadedMethod<object, object>,
      }))
    : [],
);

/** Returns each method with each fullness of its messages. */
const cases: Case[] = loadedMethods
  .filter(({ service }) => service !== CALL_STREAM)
  .flatMap(({ service, method }) => {
    const definition = definitions.find(({ fullName }) => fullName === service)!;
    const [name] = Object.entries(definition.methods).find(
      ([, own]) => own.name === method.path.split('/')[2],
    )!;
    const { input, output } = registry
      .getService(service)!
      .methods.find((own) => method.path.endsWith(`/${own.name}`))!;
    return fullnesses.map((fullness) => ({
      path: method.path,
      definition,
      name,
      streams: method.responseStream,
      method,
      request: sampler.message(input, fullness),
      response: sampler.message(output, fullness),
    }));
  });
const unaryCases = cases.filter(({ streams }) => !streams);

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

test('both know the same services, methods and streams', () => {
  const flags = (path: string, of: { requestStream: boolean; responseStream: boolean }) =>
    `${path} ${of.requestStream} ${of.responseStream}`;
  const generated = definitions.flatMap(({ fullName, methods }) =>
    Object.values(methods).map((method) => flags(`/${fullName}/${method.name}`, method)),
  );
  expect(generated.sort()).toEqual(loadedMethods.map(({ method }) => flags(method.path, method)).sort());
});

test('each reads what the other writes', () => {
  for (const { service, method } of loadedMethods) {
    const { name, input, output } = registry
      .getService(service)!
      .methods.find((own) => method.path.endsWith(`/${own.name}`))!;
    const { requestType, responseType } = Object.values(
      definitions.find(({ fullName }) => fullName === service)!.methods,
    ).find((own) => own.name === name)!;
    for (const fullness of fullnesses) {
      const [asked, answered] = [sampler.message(input, fullness), sampler.message(output, fullness)];
      expect(requestType.decode(method.requestSerialize(asked.loaded as object))).toEqual(asked.generated);
      expect(responseType.decode(method.responseSerialize(answered.loaded as object))).toEqual(
        answered.generated,
      );
      const bytes = [requestType.encode(asked.generated), responseType.encode(answered.generated)] as const;
      expect(method.requestDeserialize(Buffer.from(bytes[0].finish()))).toEqual(asked.loaded);
      expect(method.responseDeserialize(Buffer.from(bytes[1].finish()))).toEqual(answered.loaded);
    }
  }
});

test('the samples hold every kind of field that there is', () => {
  const seen = new Sampler();
  for (const { service } of loadedMethods)
    for (const { input, output } of registry.getService(service)!.methods)
      for (const message of [input, output]) seen.message(message, 'filled');
  const kinds = [
    'STRING',
    'BYTES',
    'BOOL',
    'INT32',
    'INT64',
    'UINT32',
    'DOUBLE',
    'enum',
    'message',
    'optional',
  ];
  expect([...seen.kinds]).toEqual(
    expect.arrayContaining([
      ...kinds,
      'repeated scalar',
      'repeated message',
      'map of scalar',
      'map of message',
    ]),
  );
});

describe('a server from generated code', () => {
  /** The last request, and the next answer. */
  const now: { asked: unknown; answer: unknown } = { asked: null, answer: null };

  async function serve(): Promise<Client> {
    const server = createRpcServer({ log: silentLog });
    for (const definition of definitions.filter(({ fullName }) => fullName !== CALL_STREAM))
      server.serve(
        definition,
        Object.fromEntries(
          Object.entries(definition.methods).map(([name, { responseStream }]) => [
            name,
            responseStream
              ? async function* (request: unknown) {
                  now.asked = request;
                  yield now.answer;
                  yield now.answer;
                }
              : async (request: unknown) => {
                  now.asked = request;
                  return now.answer;
                },
          ]),
        ) as never,
      );
    undo.push(() => server.close(1_000));
    const client = new Client(
      `127.0.0.1:${await server.listen('127.0.0.1', 0)}`,
      credentials.createInsecure(),
    );
    undo.push(() => client.close());
    return client;
  }

  function call(client: Client, { path, method, request }: Case): Promise<unknown> {
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        method.requestSerialize,
        method.responseDeserialize,
        request.loaded as object,
        (error, answer) => (error ? reject(error) : resolve(answer)),
      );
    });
  }

  test('understands requests of proto-loader, which understands its answers', async () => {
    const client = await serve();
    for (const one of cases) {
      now.answer = one.response.generated;
      const { path, method, request, response } = one;
      const answers: unknown[] = [];
      if (one.streams)
        for await (const answer of client.makeServerStreamRequest(
          path,
          method.requestSerialize,
          method.responseDeserialize,
          request.loaded as object,
        ))
          answers.push(answer);
      else answers.push(await call(client, one));
      expect([path, now.asked]).toEqual([path, request.generated]);
      for (const answer of answers) expect([path, answer]).toEqual([path, response.loaded]);
      expect(answers).toHaveLength(one.streams ? 2 : 1);
    }
  });

  test('by a call stream, too', async () => {
    const client = await serve();
    const open = (loaded[CALL_STREAM] as Loaded).Open!;
    const stream: ClientDuplexStream<object, object> = client.makeBidiStreamRequest(
      open.path,
      open.requestSerialize,
      open.responseDeserialize,
    );
    const answers = stream[Symbol.asyncIterator]() as AsyncIterator<{
      call: number;
      body: Buffer;
      isLeaving: boolean;
    }>;
    expect((await answers.next()).value).toMatchObject({ call: 0, isLeaving: false });
    for (const [i, { path, method, request, response }] of unaryCases.entries()) {
      now.answer = response.generated;
      stream.write({
        call: i + 1,
        path,
        body: method.requestSerialize(request.loaded as object),
        deadlineMs: 10_000,
      });
      const { value } = await answers.next();
      expect([path, now.asked]).toEqual([path, request.generated]);
      expect(value).toMatchObject({ call: i + 1, errorCode: '' });
      expect([path, method.responseDeserialize(value.body)]).toEqual([path, response.loaded]);
    }
    stream.end();
  });
});

describe('a server from proto/', () => {
  const now: { asked: unknown; answer: object; byStream: number } = { asked: null, answer: {}, byStream: 0 };

  /** Answers calls that arrive on a call stream, as `createRpcServer` does. */
  const answerByStream = (stream: ServerDuplexStream<any, object>): void => {
    stream.on('data', ({ call, path, body }: { call: number; path: string; body: Buffer }) => {
      const { method } = unaryCases.find((one) => one.path === path)!;
      now.asked = method.requestDeserialize(body);
      now.byStream++;
      stream.write({ call, body: method.responseSerialize(now.answer) });
    });
    stream.on('end', () => stream.end());
    stream.write({ isLeaving: false });
  };

  function implementationOf(service: Loaded): UntypedServiceImplementation {
    return Object.fromEntries(
      Object.entries(service).map(([name, { responseStream }]) => [
        name,
        responseStream
          ? (call: any) => {
              now.asked = call.request;
              call.write(now.answer);
              call.write(now.answer);
              call.end();
            }
          : (call: any, done: (error: null, answer: object) => void) => {
              now.asked = call.request;
              done(null, now.answer);
            },
      ]),
    );
  }

  async function connect(o: { hasStream: boolean; log: Log }) {
    const server = new Server();
    for (const service of new Set(loadedMethods.map((one) => one.service))) {
      if (service === CALL_STREAM && !o.hasStream) continue;
      const definition = loaded[service] as Loaded;
      const implementation =
        service === CALL_STREAM ? { Open: answerByStream } : implementationOf(definition);
      server.addService(definition as Record<string, MethodDefinition<any, any>>, implementation);
    }
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    const connector = createGrpcConnector({ addresses: { catalog: `127.0.0.1:${port}` }, log: o.log });
    undo.push(() => server.forceShutdown());
    undo.push(() => connector.close());
    return connector;
  }

  type AnyClient = Record<string, (request: unknown) => unknown>;
  async function ask(client: AnyClient, { path, name, streams, request, response }: Case): Promise<void> {
    now.answer = response.loaded as object;
    const answers: unknown[] = [];
    if (streams)
      for await (const answer of client[name]!(request.generated) as AsyncIterable<unknown>)
        answers.push(answer);
    else answers.push(await client[name]!(request.generated));
    expect([path, now.asked]).toEqual([path, request.loaded]);
    for (const answer of answers) expect([path, answer]).toEqual([path, response.generated]);
    expect(answers).toHaveLength(streams ? 2 : 1);
  }

  test('understands requests of a generated client, which understands its answers', async () => {
    const connector = await connect({ hasStream: false, log: silentLog });
    for (const one of cases) await ask(connector.client(one.definition, 'catalog') as AnyClient, one);
    expect(now.byStream).toBe(0);
  });

  test('by a call stream, too', async () => {
    const opened = new EventEmitter();
    const debug: Log['debug'] = (_, text) => void (text === 'calls share a stream' && opened.emit('opened'));
    const connector = await connect({ hasStream: true, log: { ...silentLog, debug } });
    const isOpened = once(opened, 'opened');
    await ask(connector.client(unaryCases[0]!.definition, 'catalog') as AnyClient, unaryCases[0]!);
    await isOpened;
    for (const one of unaryCases) await ask(connector.client(one.definition, 'catalog') as AnyClient, one);
    // Calls of a process without a credential do not use the call stream.
    const isAlone = ({ path }: Case) => contracts.rpcRules.get(path)!.callers.includes('newcomer');
    expect(now.byStream).toBe(unaryCases.filter((one) => !isAlone(one)).length);
  });
});
