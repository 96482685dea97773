/** The contract of every rpc transport; run against gRPC and the local one. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { catalogRpc, clusterStatusRpc, type ServiceName } from '@baton/contracts';
import { AppError, type Log, silentLog } from '@baton/kernel';
import type { RpcConnector, RpcHandlers, ServedCall, ServiceDefinition } from './definition';

export interface RpcUnderTest {
  connector: RpcConnector;
  stop(): Promise<void>;
}
export type ServeAll = (
  services: { service: ServiceName; definition: ServiceDefinition; handlers: object }[],
  log: Log,
) => Promise<RpcUnderTest>;

type Report = RpcHandlers<clusterStatusRpc.ClusterStatusServiceDefinition>['report'];
/** One method is enough here, whatever methods the service gets later. */
const ClusterStatusServiceDefinition = {
  ...clusterStatusRpc.ClusterStatusServiceDefinition,
  methods: { report: clusterStatusRpc.ClusterStatusServiceDefinition.methods.report },
} as const;
const { CatalogServiceDefinition } = catalogRpc;

async function* chunks(count: number, call: ServedCall, onEnd: () => void) {
  try {
    for (let n = 0; n < count && !call.signal.aborted; n++) yield { data: Buffer.alloc(10, n) };
    if (count === 0) throw new AppError('not_found_error', 'no such file');
  } finally {
    onEnd();
  }
}

function catalogHandlers(onEnd: () => void): object {
  const missing = async (): Promise<never> => {
    throw new Error('not part of this test');
  };
  const methods = Object.fromEntries(
    Object.keys(CatalogServiceDefinition.methods).map((name) => [name, missing]),
  );
  const readBlueprintFile = (r: catalogRpc.ReadBlueprintFileRequest, call: ServedCall) =>
    chunks(Number(r.path), call, onEnd);
  return { ...methods, readBlueprintFile };
}

/** Declares the suite for one transport. */
export function rpcContract(name: string, serve: ServeAll): void {
  describe(`rpc contract: ${name}`, () => {
    let report: Report;
    let streamsEnded = 0;
    let under: RpcUnderTest;
    const logged: { err?: Error }[] = [];
    const log: Log = { ...silentLog, error: (fields) => void logged.push(fields) };
    const status = () => under.connector.client(ClusterStatusServiceDefinition, 'cluster-status');
    const catalog = () => under.connector.client(CatalogServiceDefinition, 'catalog');

    beforeAll(async () => {
      under = await serve(
        [
          {
            service: 'cluster-status',
            definition: ClusterStatusServiceDefinition,
            handlers: { report: (r: never, c: never) => report(r, c) },
          },
          {
            service: 'catalog',
            definition: CatalogServiceDefinition,
            handlers: catalogHandlers(() => streamsEnded++),
          },
        ],
        log,
      );
    });
    afterAll(() => under.stop());

    test('absent request fields get their defaults', async () => {
      let seen: unknown;
      report = async (request) => {
        seen = request;
        return { maintenance: request.service };
      };
      expect(await status().report({ service: 'grüße', pid: 2 ** 40 })).toEqual({ maintenance: 'grüße' });
      expect(seen).toMatchObject({ service: 'grüße', pid: 2 ** 40, checksJson: '', isLeaving: false });
    });

    test('an AppError crosses with code, text and details', async () => {
      report = async () => {
        throw new AppError('conflict_error', 'schon vergeben: ü', { field: 'id', expected: ['ä', 1] });
      };
      await expect(status().report({})).rejects.toMatchObject({
        code: 'conflict_error',
        message: 'schon vergeben: ü',
        details: { field: 'id', expected: ['ä', 1] },
      });
      await expect(status().report({})).rejects.toBeInstanceOf(AppError);
    });

    test('an AppError of a handler that says unavailable is not repeated', async () => {
      let calls = 0;
      report = async () => {
        calls++;
        throw new AppError('maintenance_mode_active', 'later');
      };
      await expect(status().report({})).rejects.toMatchObject({ code: 'maintenance_mode_active' });
      expect(calls).toBe(1);
    });

    test('a bug is logged once with its stack and never shown', async () => {
      logged.length = 0;
      report = async () => {
        throw new TypeError('password=hunter2');
      };
      const error = await status()
        .report({})
        .catch((e: AppError) => e);
      expect(error).toMatchObject({ code: 'internal_server_error' });
      expect(JSON.stringify([(error as AppError).message, (error as AppError).details])).not.toContain(
        'hunter2',
      );
      expect(logged.map((l) => l.err?.message)).toEqual(['password=hunter2']);
    });

    test('the deadline ends the call on both sides', async () => {
      let aborted!: () => void;
      const wasAborted = new Promise<void>((resolve) => {
        aborted = resolve;
      });
      report = (_request, call) =>
        new Promise((resolve) => {
          expect(call.deadlineMs).toBeLessThanOrEqual(60);
          call.signal.addEventListener('abort', () => {
            aborted();
            resolve({ maintenance: '' });
          });
        });
      await expect(status().report({}, { deadlineMs: 60 })).rejects.toMatchObject({
        code: 'request_timeout_error',
      });
      await wasAborted;
    });

    test('a caller may give up, with its own reason', async () => {
      const controller = new AbortController();
      const seen = new Promise<void>((resolve) => {
        report = (_request, call) =>
          new Promise((end) => {
            call.signal.addEventListener('abort', () => {
              resolve();
              end({ maintenance: '' });
            });
            controller.abort(new Error('enough'));
          });
      });
      await expect(status().report({}, { signal: controller.signal })).rejects.toThrow('enough');
      await seen;
    });

    test('a stream arrives in order, an early end reaches the handler, an error crosses', async () => {
      const all: number[] = [];
      for await (const chunk of catalog().readBlueprintFile({ path: '50' })) all.push(chunk.data[0]!);
      expect(all).toEqual([...Array(50).keys()]);
      const before = streamsEnded;
      for await (const chunk of catalog().readBlueprintFile({ path: '1000000' }))
        if (chunk.data[0] === 3) break;
      for (let i = 0; streamsEnded === before && i < 200; i++)
        await new Promise((resolve) => setImmediate(resolve));
      const read = async () => {
        for await (const chunk of catalog().readBlueprintFile({ path: '0' })) all.push(chunk.data[0]!);
      };
      await expect(read()).rejects.toMatchObject({ code: 'not_found_error' });
      expect(streamsEnded).toBe(before + 2);
    });

    test('a service that does not run is waited for, then reported', async () => {
      const away = under.connector.client(ClusterStatusServiceDefinition, 'secrets');
      // Long enough that a slow machine has tried to connect by then.
      await expect(away.report({}, { deadlineMs: 2_000 })).rejects.toMatchObject({
        code: 'service_unavailable_error',
      });
    });

    test('a call inside a transaction is refused', async () => {
      const slot = Symbol.for('baton.tx');
      const storage = new AsyncLocalStorage<unknown>();
      const globals = globalThis as { [slot]?: unknown };
      const before = globals[slot];
      globals[slot] = storage;
      try {
        await storage.run({ isOpen: true }, () =>
          expect(status().report({})).rejects.toThrow(/inside a transaction/),
        );
      } finally {
        globals[slot] = before;
      }
    });
  });
}
