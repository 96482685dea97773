/**
 * The standard health service (grpc.health.v1) for kubelets and load balancers. It answers every caller, without a credential, and
 * returns only SERVING or NOT_SERVING; `/readyz` of the ops port names the failed checks.
 */
import type { Server, ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { addLateServices, type LoadedService } from './late-service';

/** Whether other services may send calls here. Never rejects. */
export type Readiness = () => Promise<boolean>;

/** The protocol's `service` value for the server as a whole. Its state follows readiness. */
const WHOLE = '';
/** The `service` value of a liveness probe, which must not depend on the database: SERVING as long as the process answers. */
const LIVENESS = 'liveness';
/** Interval of the readiness checks while there are watchers. */
const LOOK_EVERY_MS = 2_000;

const path = (method: string): string => `/grpc.health.v1.Health/${method}`;
const unary = { requestStream: false, responseStream: false };
const methods = [
  { path: path('Check'), ...unary },
  { path: path('List'), ...unary },
  { path: path('Watch'), requestStream: false, responseStream: true },
];

export interface HealthService {
  addTo(server: Pick<Server, 'addService'>): void;
  /** Reports NOT_SERVING from now on; watchers are told, and their calls end. */
  leave(): void;
}

type Handler = (call: never, done?: never) => void;
type Watch = ServerWritableStream<unknown, unknown>;

/** Open calls of `Watch`. While there is one, `look` runs every `everyMs`. */
class Watches {
  readonly #open = new Set<Watch>();
  #looking: NodeJS.Timeout | undefined;
  constructor(
    private readonly look: () => Promise<void>,
    private readonly everyMs: number,
  ) {}
  add(watch: Watch): void {
    this.#open.add(watch);
    watch.on('cancelled', () => this.#forget(watch));
    this.#looking ??= setInterval(() => void this.look(), this.everyMs).unref();
  }
  endAll(): void {
    for (const watch of this.#open) {
      watch.end();
      this.#forget(watch);
    }
  }
  #forget(watch: Watch): void {
    this.#open.delete(watch);
    if (this.#open.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}

/** `isReady` absent: ready until `leave`. `lookEveryMs`: longest delay before watchers hear of a change. */
export function createHealthService({
  isReady = async () => true,
  lookEveryMs = LOOK_EVERY_MS,
}: {
  isReady?: Readiness | undefined;
  lookEveryMs?: number;
}): HealthService {
  let hasLeft = false;
  let tell: (isServing: boolean) => void = () => undefined;
  const look = async (): Promise<void> => {
    const isServing = await isReady();
    tell(isServing && !hasLeft);
  };
  const watches = new Watches(look, lookEveryMs);
  const lookFirst =
    (handler: Handler): Handler =>
    (...call) =>
      void look().then(() => handler(...call));
  const watched = (handler: Handler) => (watch: Watch) => {
    watches.add(watch);
    void look().then(() => {
      handler(watch as never);
      if (hasLeft) watches.endAll();
    });
  };
  const load = async (): Promise<LoadedService[]> => {
    const { HealthImplementation } = await import('grpc-health-check');
    const health = new HealthImplementation({ [WHOLE]: 'NOT_SERVING', [LIVENESS]: 'SERVING' });
    let told = false;
    tell = (isServing) => {
      if (told !== isServing) health.setStatus(WHOLE, isServing ? 'SERVING' : 'NOT_SERVING');
      told = isServing;
    };
    const loaded: LoadedService[] = [];
    health.addToServer({
      addService(definition, { check, list, watch }) {
        const own = { check: lookFirst(check as Handler), list: lookFirst(list as Handler) };
        const implementation = { ...own, watch: watched(watch as Handler) };
        loaded.push({
          definition,
          implementation: implementation as unknown as UntypedServiceImplementation,
        });
      },
    });
    return loaded;
  };
  return {
    addTo: (server) => addLateServices(server, { methods, load }),
    leave() {
      hasLeft = true;
      tell(false);
      watches.endAll();
    },
  };
}
