/** The credential of a worker: a key pair in memory, registered with executions, and certificates that live for a minute. */
import { type ServiceName, workersRpc } from '@baton/contracts';
import { backoffMs, type Clock, isAppError, type Log, type Secret, systemClock } from '@baton/kernel';
import type { RpcClient, RpcConnector } from '@baton/rpc';
import { type CallerCredential, certifiedAtMs, LIFE_S, newWorkerKey, workerTokens } from '@baton/trust';

export interface WorkerCredentialOptions {
  workerId: string;
  /** Null for a worker on the channel of its parent process. */
  joinToken: Secret | null;
  log: Log;
  clock?: Clock;
  /** Called when somebody revoked the credential, for ever: no call of this process will be answered any more. */
  onRevoked?: () => void;
}

export interface WorkerCredential extends CallerCredential {
  /** Starts the registration through `rpc`, which shows this credential. */
  registerBy(rpc: RpcConnector): void;
  close(): void;
}

/** A new certificate is requested when this much of the last one's life has passed. */
const RENEW_AFTER_MS = (LIFE_S / 3) * 1000;
/** Delay of the next request after a failed one. */
const RENEW_AGAIN_MS = 2_000;
const PAUSE = { firstMs: 50, maxMs: 5_000, factor: 2, jitter: 0.3 };
/** The reason is logged again after this many tries: with the pauses above about once a minute. */
const LOG_EACH = 12;

type Client = RpcClient<typeof workersRpc.WorkersServiceDefinition>;

/**
 * Creates the credential of a worker. When the process dies, its registration stays, and no other process has its key; the next
 * process makes its own key. While executions is away, the worker waits for its first certificate, or goes on with the last one
 * while that lives.
 */
export function createWorkerCredential(o: WorkerCredentialOptions): WorkerCredential {
  const clock = o.clock ?? systemClock;
  const key = newWorkerKey();
  let client: Client | null = null;
  let tokens: ((audience: ServiceName) => string) | null = null;
  let renewAtMs = 0;
  let isRenewing = false;
  let isClosed = false;
  let ready!: () => void;
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const take = (certificate: string): void => {
    tokens = workerTokens(key, certificate, clockOfFleet(certificate, clock));
    renewAtMs = clock.monotonic() + RENEW_AFTER_MS;
    ready();
  };
  const register = async (): Promise<void> => {
    const { workerId, joinToken } = o;
    const asked = { workerId, publicKey: key.publicKey, joinToken: joinToken?.expose() ?? '' };
    const once = async (): Promise<void> => take((await client!.registerWorker(asked)).certificate);
    await untilRegistered(once, () => isClosed, o);
  };
  const renew = async (): Promise<void> => {
    try {
      take((await client!.renewWorker({ workerId: o.workerId })).certificate);
    } catch (error) {
      renewAtMs = clock.monotonic() + RENEW_AGAIN_MS;
      const reason = (error as Error).message;
      o.log.warn({ workerId: o.workerId, reason }, 'certificate of this worker not renewed');
      if (!isAppError(error, 'unauthorized_error')) return;
      // The certificate is revoked, or so old that only a new registration helps.
      tokens = null;
      await register();
    }
  };
  const renewWhenDue = (): void => {
    if (isRenewing || isClosed || clock.monotonic() < renewAtMs) return;
    isRenewing = true;
    void renew().finally(() => {
      isRenewing = false;
    });
  };
  return {
    tokenFor(audience) {
      if (!tokens) return null;
      renewWhenDue();
      return tokens?.(audience) ?? null;
    },
    ready: () => isReady,
    registerBy(rpc) {
      client = rpc.client(workersRpc.WorkersServiceDefinition, 'executions');
      void register();
    },
    close() {
      isClosed = true;
    },
  };
}

/**
 * Returns a clock with the time of executions, which dated the certificate a moment ago, continued by the monotonic clock. So
 * neither a wrong wall clock of this host nor a jump of it makes calls untrusted.
 */
function clockOfFleet(certificate: string, clock: Clock): Clock {
  const startMs = certifiedAtMs(certificate);
  const startedAt = clock.monotonic();
  return { ...clock, now: () => startMs + clock.monotonic() - startedAt };
}

/**
 * Whether executions revoked the worker. It answers unknown workers and wrong join tokens with `unauthorized_error` too, but those
 * can be fixed.
 */
const isRevoked = (error: unknown): boolean =>
  isAppError(error, 'unauthorized_error') && error.details.reason === 'revoked';

/**
 * Tries to register, with pauses, because executions may be away for long; ends without success only when `isOver`, or when the
 * worker is revoked.
 */
async function untilRegistered(
  registerOnce: () => Promise<void>,
  isOver: () => boolean,
  { workerId, log, onRevoked }: WorkerCredentialOptions,
): Promise<void> {
  for (let tries = 1; !isOver(); tries++) {
    try {
      return await registerOnce();
    } catch (error) {
      if (isRevoked(error)) return onRevoked?.();
      const reason = (error as Error).message;
      if (tries % LOG_EACH === 1) log.warn({ workerId, tries, reason }, 'worker is not registered yet');
      await new Promise((resolve) => setTimeout(resolve, backoffMs(tries, PAUSE)).unref());
    }
  }
}
