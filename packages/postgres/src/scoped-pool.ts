import type { TenantScope } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import pg from 'pg';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** The statement that set the current role and tenant of each connection; absent: the connection works as it logged in. */
const scopes = new WeakMap<pg.PoolClient, string>();
const AS_LOGGED_IN = 'reset role; reset baton.tenant; reset baton.reach';

function statementFor(scope: TenantScope | null, role: string): string {
  if (scope === null) return AS_LOGGED_IN;
  const { tenant, reach } = scope;
  return `set role ${role}; set baton.tenant = ${pg.escapeLiteral(tenant)}; set baton.reach = '${reach}'`;
}

export interface ScopedPoolOptions {
  /** Scope of the current request; null: work of the service itself. */
  scopeNow: () => TenantScope | null;
  /** Role as which requests work. */
  roleNow: () => string;
  /** So many calls may wait for a connection; further ones are refused at once. */
  maxWaiting: number;
}

/**
 * A pool whose connections work for the request that took them: under a role that policies hold to the rows of one tenant. A
 * connection keeps its role and tenant after use, and a request gets an idle connection with its own role and tenant first. So a
 * switch costs a statement only where tenants, or requests and background work, take turns on one connection.
 */
export class ScopedPool extends pg.Pool {
  constructor(
    options: pg.PoolConfig,
    private readonly o: ScopedPoolOptions,
  ) {
    super(options);
  }

  /**
   * The error when too many calls wait; null: there is room. A queue without an end takes memory and keeps callers that have given
   * up by their turn.
   */
  private busy(): AppError | null {
    if (this.waitingCount < this.o.maxWaiting) return null;
    return new AppError(
      'service_unavailable_error',
      `The database is busy: ${this.waitingCount} calls wait for a connection already`,
    );
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(done: Connected): void;
  override connect(done?: Connected): Promise<pg.PoolClient> | undefined {
    const wanted = statementFor(this.o.scopeNow(), this.o.roleNow());
    const busy = this.busy();
    if (busy) {
      if (!done) return Promise.reject(busy);
      done(busy, undefined, () => undefined);
      return undefined;
    }
    this.preferIdle(wanted);
    if (!done) return this.connected(wanted);
    super.connect((error, client, release) => {
      if (error || !client || isIn(client, wanted)) return done(error, client, release);
      enter(client, wanted).then(
        () => done(undefined, client, release),
        (failed: Error) => {
          release(failed);
          done(failed, undefined, () => undefined);
        },
      );
    });
    return undefined;
  }

  private async connected(wanted: string): Promise<pg.PoolClient> {
    const client = await super.connect();
    if (isIn(client, wanted)) return client;
    try {
      await enter(client, wanted);
      return client;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  }

  /**
   * Puts an idle connection of the wanted role and tenant last: the pool hands out the last one. Only for speed: each connection is
   * checked when it is taken.
   */
  private preferIdle(wanted: string): void {
    const idle = (this as unknown as { _idle?: { client: pg.PoolClient }[] })._idle ?? [];
    if (idle.length < 2) return;
    const at = idle.findLastIndex(({ client }) => isIn(client, wanted));
    // No idle connection fits: the one that was unused for longest changes.
    const [chosen] = idle.splice(Math.max(at, 0), 1);
    idle.push(chosen!);
  }
}

const isIn = (client: pg.PoolClient, wanted: string): boolean =>
  (scopes.get(client) ?? AS_LOGGED_IN) === wanted;

async function enter(client: pg.PoolClient, wanted: string): Promise<void> {
  // When the switch is cut off, the connection is in neither state: it must not be taken for one of them.
  scopes.set(client, 'changing');
  await client.query(wanted);
  scopes.set(client, wanted);
}
