/** grpc.health.v1.Health by hand: one enum field, so no generated code is needed. */
import type {
  ServiceDefinition as GrpcServiceDefinition,
  ServerWritableStream,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';

const SERVING = 1;
const NOT_SERVING = 2;

const empty = {
  requestSerialize: () => Buffer.alloc(0),
  requestDeserialize: () => ({}),
  responseDeserialize: (b: Buffer) => b[1] ?? 0,
};
/** Field 1, varint. */
const responseSerialize = (value: number): Buffer => Buffer.from([0x08, value]);

export const healthDefinition: GrpcServiceDefinition = {
  check: {
    ...empty,
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    responseSerialize,
  },
  watch: {
    ...empty,
    path: '/grpc.health.v1.Health/Watch',
    requestStream: false,
    responseStream: true,
    responseSerialize,
  },
};

export interface Health {
  implementation: UntypedServiceImplementation;
  setServing(isServing: boolean): void;
}

export function createHealth(): Health {
  let state = SERVING;
  const watchers = new Set<ServerWritableStream<unknown, number>>();
  return {
    implementation: {
      check: (_call: unknown, done: (error: null, value: number) => void) => done(null, state),
      watch: (call: ServerWritableStream<unknown, number>) => {
        watchers.add(call);
        call.on('cancelled', () => watchers.delete(call));
        call.write(state);
      },
    },
    setServing(isServing) {
      state = isServing ? SERVING : NOT_SERVING;
      for (const watcher of watchers) {
        watcher.write(state);
        if (!isServing) watcher.end();
      }
      if (!isServing) watchers.clear();
    },
  };
}
