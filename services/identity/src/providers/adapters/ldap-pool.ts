/**
 * Connections to directories, a few for each. Who uses one gets it bound as the account of the provider. A directory has its own queue:
 * when it is slow, sign-ins at others and of local users do not wait for it.
 */
import { createHash } from 'node:crypto';
import type { AddressRules } from '@baton/http';
import { afterDelay, type Clock, type Secret } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import { createFairQueue, type FairQueue } from '../../adapters/fair-queue';
import { storedLdap } from '../domain/ldap-settings';
import type { LdapProvider } from '../domain/provider';
import type { Sealer } from '../domain/sealed-text';
import { BindRefused, connectDirectory, type DirectoryConnection, until } from './ldap-connection';
import { ProviderUnreached } from './provider-fetch';

/** Connections to one directory at once; further users wait. */
const AT_ONCE = 8;
/** Connections for checks of users who signed in before, besides those: a flood of sign-ins keeps nobody in a group. */
const CHECKS_AT_ONCE = 4;
const MAX_PENDING = 64;
/** Of one user name: who guesses the password of one account delays only that account. */
const MAX_PENDING_OF_NAME = 8;
const MAX_IDLE = 4;
const IDLE_MS = 60_000;
/** A server that does not accept a connection in this time is passed over. */
const CONNECT_MS = 1_500;
/** A server that was away is asked after the others for this time. */
const AWAY_MS = 30_000;
const MAX_POOLS = 100;

/** The directory does not take the account of the provider. */
export class AccountRefused extends ProviderUnreached {}

export interface Use {
  /** User name: names take turns. */
  name: string;
  /** Time for everything, the wait included. */
  deadlineMs: number;
  /** Sign-ins and checks wait apart. */
  queue: 'signIns' | 'checks';
}

/** `bindAgain` makes the connection that of the account of the provider again, after a bind as somebody else. */
export type Work<T> = (connection: DirectoryConnection, bindAgain: () => Promise<void>) => Promise<T>;

export interface LdapPool {
  /**
   * Runs `work` with a connection that is bound as the account of the provider.
   * @throws ProviderUnreached; AppError too_many_requests_error when too many wait; the errors of `work`
   */
  use<T>(provider: LdapProvider, use: Use, work: Work<T>): Promise<T>;
  /** Connects to one server and binds, apart from the pool. The caller closes it. @throws ProviderUnreached */
  connect(provider: LdapProvider, url: string, signal: AbortSignal): Promise<DirectoryConnection>;
  /** Closes the connections that wait for use. */
  close(): void;
}

interface Idle {
  connection: DirectoryConnection;
  cancel: () => void;
}

interface Pool {
  signIns: FairQueue;
  checks: FairQueue;
  idle: Idle[];
  /** Time until which a server is asked last, by its address. */
  awayUntil: Map<string, number>;
  /** Connections that come back are closed. */
  isClosed: boolean;
}

export interface LdapPoolDeps {
  rules: Partial<AddressRules>;
  sealer: Sealer;
  clock: Pick<Clock, 'now'>;
}

export function createLdapPool(deps: LdapPoolDeps): LdapPool {
  const pools = new LRUCache<string, Pool>({ max: MAX_POOLS, dispose: closePool });
  const poolOf = (provider: LdapProvider): Pool => {
    const key = keyOf(provider);
    const found = pools.get(key);
    if (found) return found;
    const made = newPool();
    pools.set(key, made);
    return made;
  };
  const connect: LdapPool['connect'] = async (provider, url, signal) => {
    const { caCertificate } = provider;
    const connection = await connectDirectory(url, { caCertificate, rules: deps.rules, signal });
    await bindAsProvider(deps.sealer, provider, connection).catch((error: unknown) => {
      connection.close();
      throw error;
    });
    return connection;
  };
  return {
    connect,
    use: async (provider, { name, deadlineMs, queue }, work) => {
      const pool = poolOf(provider);
      const signal = AbortSignal.timeout(deadlineMs);
      const run = async () => {
        if (signal.aborted) throw tookTooLong();
        const connection = await acquire(pool, deps, provider, { connect, signal });
        // The end of the time fails the question that waits on this connection.
        const end = (): void => connection.close();
        signal.addEventListener('abort', end, { once: true });
        try {
          return await work(connection, () => bindAsProvider(deps.sealer, provider, connection));
        } finally {
          signal.removeEventListener('abort', end);
          release(pool, connection);
        }
      };
      const running = pool[queue].run(name, run);
      return until(signal, running).catch((error: unknown) => {
        throw signal.aborted ? tookTooLong() : error;
      });
    },
    close: () => pools.clear(),
  };
}

const tookTooLong = (): ProviderUnreached => new ProviderUnreached('it took too long');

const newQueue = (atOnce: number): FairQueue =>
  createFairQueue({ atOnce, maxPending: MAX_PENDING, maxPendingOfName: MAX_PENDING_OF_NAME });

const newPool = (): Pool => ({
  signIns: newQueue(AT_ONCE),
  checks: newQueue(CHECKS_AT_ONCE),
  idle: [],
  awayUntil: new Map(),
  isClosed: false,
});

/** Other settings are another pool: no connection of before is used after a change. */
const keyOf = (provider: LdapProvider): string =>
  createHash('sha256')
    .update(JSON.stringify([provider.id, storedLdap(provider), provider.caCertificate]))
    .update(provider.secretSealed ?? '')
    .digest('base64');

function closePool(pool: Pool): void {
  pool.isClosed = true;
  for (const { connection, cancel } of pool.idle.splice(0)) {
    cancel();
    connection.close();
  }
}

/** Binds the account of the provider. @throws ProviderUnreached */
async function bindAsProvider(
  sealer: Sealer,
  provider: LdapProvider,
  connection: DirectoryConnection,
): Promise<void> {
  const password = passwordOf(sealer, provider);
  await connection.bind(provider.bindDn, password).catch((error: unknown) => {
    if (!(error instanceof BindRefused)) throw error;
    throw new AccountRefused('the directory refuses bind_dn with bind_password', { cause: error });
  });
}

function passwordOf(sealer: Sealer, { id, secretSealed }: LdapProvider): Secret {
  const password = secretSealed && sealer.open('bind password', id, secretSealed);
  if (!password)
    throw new ProviderUnreached('its bind_password is missing or sealed by another key; set it again');
  return password;
}

/** Takes a connection that waits, when its server still answers on it, or opens one. */
async function acquire(
  pool: Pool,
  { sealer, clock }: LdapPoolDeps,
  provider: LdapProvider,
  { connect, signal }: { connect: LdapPool['connect']; signal: AbortSignal },
): Promise<DirectoryConnection> {
  for (let kept = pool.idle.pop(); kept; kept = pool.idle.pop()) {
    kept.cancel();
    const { connection } = kept;
    // It was bound as somebody else since, and its server may have closed it.
    const isGood =
      connection.isOpen && (await until(signal, bindAsProvider(sealer, provider, connection)).then(yes, no));
    if (isGood) return connection;
    connection.close();
  }
  const away = (url: string): number => Math.max(0, (pool.awayUntil.get(url) ?? 0) - clock.now());
  let last: unknown;
  for (const url of [...provider.urls].sort((a, b) => away(a) - away(b))) {
    try {
      return await connect(provider, url, AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]));
    } catch (error) {
      pool.awayUntil.set(url, clock.now() + AWAY_MS);
      last = error;
    }
  }
  throw last;
}

const yes = (): boolean => true;
const no = (): boolean => false;

function release(pool: Pool, connection: DirectoryConnection): void {
  if (!connection.isOpen || pool.isClosed || pool.idle.length >= MAX_IDLE) return connection.close();
  const kept: Idle = {
    connection,
    cancel: afterDelay(IDLE_MS, () => {
      pool.idle = pool.idle.filter((one) => one !== kept);
      connection.close();
    }),
  };
  pool.idle.push(kept);
}
