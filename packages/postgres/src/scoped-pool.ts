import type { TenantScope } from '@baton/contracts';
import pg from 'pg';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** As which each connection works now; absent: as it logged in. */
const scopes = new WeakMap<pg.PoolClient, string>();
const AS_LOGGED_IN = 'reset role; reset baton.tenant; reset baton.reach';

function statementFor(scope: TenantScope | null, role: string): string {
  if (scope === null) return AS_LOGGED_IN;
  const { tenant, reach } = scope;
  return `set role ${role}; set baton.tenant = ${pg.escapeLiteral(tenant)}; set baton.reach = '${reach}'`;
}

/**
 * A pool whose connections work for the request that took them: under a role that policies hold to the rows of one tenant.
 * A connection keeps that until somebody else needs it, and whoever comes gets one of his kind first: so it costs a
 * statement only where tenants, or requests and background work, take turns on one connection.
 */
export class ScopedPool extends pg.Pool {
  constructor(
    options: pg.PoolConfig,
    private readonly scopeNow: () => TenantScope | null,
    /** As which requests work. */
    private readonly roleNow: () => string,
  ) {
    super(options);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(done: Connected): void;
  override connect(done?: Connected): Promise<pg.PoolClient> | undefined {
    const wanted = statementFor(this.scopeNow(), this.roleNow());
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

  /** The pool hands out the idle connection that stands last. Only a matter of speed: each is checked when it is taken. */
  private preferIdle(wanted: string): void {
    const idle = (this as unknown as { _idle?: { client: pg.PoolClient }[] })._idle ?? [];
    if (idle.length < 2) return;
    const at = idle.findLastIndex(({ client }) => isIn(client, wanted));
    // Nobody's kind: the one that was not used for longest changes.
    const [chosen] = idle.splice(Math.max(at, 0), 1);
    idle.push(chosen!);
  }
}

const isIn = (client: pg.PoolClient, wanted: string): boolean =>
  (scopes.get(client) ?? AS_LOGGED_IN) === wanted;

async function enter(client: pg.PoolClient, wanted: string): Promise<void> {
  // Cut off in between it is neither: not to be taken for one of them.
  scopes.set(client, 'changing');
  await client.query(wanted);
  scopes.set(client, wanted);
}
