import type { Envelope } from '@baton/contracts';
import { backoffMs, type Log } from '@baton/kernel';
import { postgresConnection, type TlsSource } from '@baton/tls';
import { Kysely, type Transaction } from 'kysely';
import type pg from 'pg';
import { dueAudit } from './audit-scope';
import { columnTypes } from './column-types';
import { poolDialect } from './driver';
import { watchHalfOpen } from './half-open';
import { type PreparedStatement, runHot } from './hot-query';
import { auditMessage, type OutgoingMessage, outbox, unsent } from './outbox';
import { requireTenantRole, tenantRole } from './row-security';
import { ScopedPool } from './scoped-pool';
import { isTransient, translateError } from './sql-errors';
import { outsideRequests, tenantScope } from './tenant-scope';
import { doAtEnd, insideScope, isInTransaction, newScope } from './transaction-scope';

export type Tx<S> = Transaction<S>;

export interface Db<S> {
  /** Reads outside a transaction. Inside one it throws: pass `tx` instead. */
  query: Kysely<S>;
  /** For hot statements; see `prepared`. */
  pool: pg.Pool;
  /**
   * Runs `run` in one READ COMMITTED transaction; serialization failures and deadlocks run it again (at most 5 times),
   * so it must have no effects besides its statements. Only commands call it. Does not nest.
   * @throws AppError service_unavailable_error when the database is lost; then the commit may have happened.
   */
  tx<T>(run: (tx: Tx<S>) => Promise<T>): Promise<T>;
  /**
   * Runs one statement as its own transaction, on a few connections whose planner joins by index only. For hot statements that get
   * their rows as JSON: the planner cannot know the number of rows. Serialization failures and deadlocks run it again. `sent`
   * returns the messages that the statement appended to the outbox.
   * @throws AppError service_unavailable_error when the database is lost; then the commit may have happened.
   */
  statement<Row extends object>(
    statement: PreparedStatement,
    values: readonly unknown[],
    sent?: (rows: readonly Row[]) => readonly Envelope[],
  ): Promise<Row[]>;
  /**
   * Prepares messages for a `statement` that appends them to the outbox, together with the pending audit message of this request.
   * Call `recorded` after the statement has written them.
   * @throws ZodError when a payload does not fit its schema.
   */
  audited(messages: readonly OutgoingMessage[]): { messages: Omit<Envelope, 'time'>[]; recorded(): void };
  /** @throws when the database does not answer. */
  ping(): Promise<void>;
  /** @throws Error when row security cannot hold requests to their tenant, unless row security is switched off. */
  requireRowSecurity(): Promise<void>;
  close(): Promise<void>;
  /** Registers a relay, called after each commit that appended messages to the outbox. Of several relays the first is called. */
  onOutboxCommit(kick: Kick): () => void;
  /**
   * Registers a listener, called after each commit of `tx` with the keys that it noted (`noteAfterCommit`). Returns the function
   * that removes it.
   */
  onCommitNotes(listen: (keys: ReadonlySet<string>) => void): () => void;
}

/**
 * Calls that may wait for a connection of a pool: some seconds of work at the usual speed. A further call is refused at once: the
 * database is busy.
 */
const MAX_WAITING = 500;
/**
 * Our own locks are held for milliseconds. A lock held for longer belongs to another program, or to one that hangs. With the wait
 * for a connection before it, a caller gets an answer within 15 s.
 */
const LOCK_TIMEOUT_MS = 4_000;

type Kick = (appended: readonly Envelope[]) => void;
type NoteListener = (keys: ReadonlySet<string>) => void;

export interface DbOptions {
  url: string;
  /** The service's own schema; `baton` (app_now) comes second in the search path. */
  schema: string;
  /** Connections of this Db in all, those of `statement` included; at least 2, default 10. */
  maxConnections?: number;
  applicationName: string;
  log: Log;
  /** Authorities to trust where `sslmode` in the address asks for TLS; absent: the system's authorities. */
  trust?: TlsSource | null | undefined;
  /** False: only the statements hold requests to their tenant, not row security. Default true. */
  hasRowSecurity?: boolean;
  /** Longest single statement, default 30 s; 0 = no limit. */
  statementTimeoutMs?: number;
  /** Longest wait of a statement for a lock, default 4 s; 0 = no limit. */
  lockTimeoutMs?: number;
  /** Longest pause inside a transaction before the server ends it, default 60 s. */
  idleInTransactionMs?: number;
  /** Longest wait for a connection, default 10 s. */
  connectTimeoutMs?: number;
  /** How long a connection in use may be silent before the server is probed, default 8 s. */
  silentMs?: number;
}

const MAX_TX_RUNS = 5;
const MAX_CONNECTIONS = 10;
/** Most connections of `statement`: while a long batch uses one, the next batch, and others, use the second. */
const STATEMENT_CONNECTIONS = 2;
/** Settings against a plan that was made while a table was empty: such a plan must not read the whole table later. */
const INDEX_ONLY = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};
const RETRY_DELAY = { firstMs: 5, maxMs: 200, factor: 3, jitter: 0.8 };

/** The database of one service: a bounded pool whose sessions see the service's schema, in UTC. Connects lazily. */
export function createDb<S>(options: DbOptions): Db<S> {
  const hasRowSecurity = options.hasRowSecurity ?? true;
  const most = options.maxConnections ?? MAX_CONNECTIONS;
  const forStatements = Math.min(STATEMENT_CONNECTIONS, Math.ceil(most / 4));
  // The role that the policies of this database name: read at the start, before there are requests.
  const tenants = { role: tenantRole(options.schema) };
  const pool = createPool(options, Math.max(1, most - forStatements), {}, hasRowSecurity ? tenants : null);
  const query = new Kysely<S>({ dialect: poolDialect(pool) });
  const kicks = new Set<Kick>();
  const noteListeners = new Set<NoteListener>();
  // Connects when it is first used.
  const byIndex = createPool(options, forStatements, INDEX_ONLY);
  let closing: Promise<void> | undefined;
  return {
    query,
    pool,
    tx: (run) =>
      runTransaction(query, run, { kicks, noteListeners, log: options.log, schema: options.schema }),
    statement: async <Row extends object>(
      statement: PreparedStatement,
      values: readonly unknown[],
      sent?: (rows: readonly Row[]) => readonly Envelope[],
    ) => {
      if (isInTransaction()) throw new Error(`statement ${statement.name} inside db.tx: pass tx instead`);
      const run = () => runHot(byIndex, statement, values);
      const rows = await untilSettled(run).catch((error) => {
        throw translateError(error);
      });
      callAll(kicksFor(kicks, sent?.(rows as Row[]) ?? []), options.log);
      return rows as Row[];
    },
    audited: (messages) => {
      const audit = dueAudit(options.schema);
      const all = audit ? [...messages, auditMessage(audit)] : messages;
      return { messages: all.map(unsent), recorded: () => audit?.recorded() };
    },
    ping: async () => {
      await pool.query('select 1');
    },
    requireRowSecurity: async () => {
      if (!hasRowSecurity) return;
      const client = await pool.connect();
      tenants.role = await requireTenantRole(client, options.schema).finally(() => client.release());
    },
    close: () =>
      (closing ??= query
        .destroy()
        .then(() => Promise.all([pool.ended ? undefined : pool.end(), byIndex.end()]))
        .then(() => undefined)),
    onOutboxCommit: (kick) => {
      kicks.add(kick);
      return () => kicks.delete(kick);
    },
    onCommitNotes: (listen) => {
      noteListeners.add(listen);
      return () => noteListeners.delete(listen);
    },
  };
}

function createPool(
  options: DbOptions,
  max: number,
  more: Record<string, string>,
  tenants: { role: string } | null = null,
): pg.Pool {
  const statementMs = options.statementTimeoutMs ?? 30_000;
  const idleMs = options.idleInTransactionMs ?? 60_000;
  const settings = {
    ...more,
    search_path: `"${options.schema}",baton`,
    timezone: 'UTC',
    // For short statements on few cores, compilation and parallel workers cost more than they gain.
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    statement_timeout: statementMs,
    lock_timeout: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: idleMs,
  };
  const { schema } = options;
  const pool = new ScopedPool(
    {
      ...postgresConnection(options.url, options.trust),
      max,
      application_name: options.applicationName,
      options: Object.entries(settings)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
      types: columnTypes,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
      idleTimeoutMillis: 60_000,
    },
    {
      scopeNow: tenants ? () => tenantScope(schema) : () => null,
      roleNow: () => tenants?.role ?? '',
      maxWaiting: MAX_WAITING,
    },
  );
  // Without a listener a lost idle connection ends the process; the pool replaces it by itself.
  pool.on('error', (error) => options.log.warn({ error: error.message }, 'database connection lost'));
  // A connection that is lost while in use fails its query or the next one. Without a listener this event ends the process too.
  pool.on('connect', (client) => client.on('error', () => undefined));
  watchHalfOpen(pool, {
    url: options.url,
    trust: options.trust,
    log: options.log,
    silentMs: options.silentMs,
    probeMs: Math.min(5_000, options.connectTimeoutMs ?? 5_000),
    // By then the server would have ended the statement and the transaction.
    deadMs: statementMs > 0 && idleMs > 0 ? Math.max(statementMs, idleMs) + 10_000 : null,
  });
  return pool;
}

async function runTransaction<S, T>(
  query: Kysely<S>,
  run: (tx: Tx<S>) => Promise<T>,
  {
    kicks,
    noteListeners,
    log,
    schema,
  }: { kicks: ReadonlySet<Kick>; noteListeners: ReadonlySet<NoteListener>; log: Log; schema: string },
): Promise<T> {
  if (isInTransaction()) throw new Error('db.tx inside db.tx: pass tx instead');
  return await untilSettled(async () => {
    const scope = newScope(dueAudit(schema));
    const result = await query.transaction().execute((tx) =>
      insideScope(tx, scope, async () => {
        const done = await run(tx);
        if (scope.atEnd.size > 0) await doAtEnd(scope);
        if (scope.audit) await outbox.appendAudit(tx);
        return done;
      }),
    );
    callAll(
      [...scope.afterCommit, ...kicksFor(kicks, scope.messages), ...told(noteListeners, scope.notes)],
      log,
    );
    return result;
  });
}

/** Runs `run` again after serialization failures and deadlocks, at most 5 times in all. */
async function untilSettled<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isTransient(error) || attempt >= MAX_TX_RUNS) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, RETRY_DELAY)));
    }
  }
}

/** Kicks one relay, which sends these messages. Further relays of the same database only help with claimed batches. */
const kicksFor = (kicks: ReadonlySet<Kick>, appended: readonly Envelope[]): (() => void)[] =>
  appended.length === 0 ? [] : [...kicks].slice(0, 1).map((kick) => () => kick(appended));

const told = (listeners: ReadonlySet<NoteListener>, keys: ReadonlySet<string>): (() => void)[] =>
  keys.size === 0 ? [] : [...listeners].map((listen) => () => listen(keys));

/** Runs the work that waits for a commit. */
function callAll(work: Iterable<() => void>, log: Log): void {
  for (const call of work) {
    try {
      outsideRequests(call);
    } catch (error) {
      // The commit has happened: its caller must not see this error.
      log.error({ error }, 'work after a commit failed');
    }
  }
}
