import { importsRpc } from '@baton/contracts';
import { AppError, type JsonObject, type Log } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';
import { inSession } from '@baton/snapshot-part';
import type { Pool, PoolClient } from 'pg';
import { FateBook } from './fates';
import type { ImportTables } from './importer';
import { type StageSealer, sealStaged } from './stage-sealer';
import { takeRecords } from './take-records';

export interface ImportPartDeps {
  db: { pool: Pool };
  tables: ImportTables;
  log: Log;
  /** For types whose records hold secrets. */
  sealer?: StageSealer;
  /**
   * Called after each commit of an apply, before its answer: follow-ups outside of the database. A crash leaves them to a loop of the
   * service.
   */
  applied?(): Promise<void>;
}

const definition = importsRpc.ImportPartServiceDefinition;
type Handlers = RpcHandlers<typeof definition>;

/** Lines in one piece of the fates. */
const LINES_A_PIECE = 1_000;

/** Serves the service's part of imports: `rpc: [createImportPart({...})]`. */
export function createImportPart(deps: ImportPartDeps): {
  definition: typeof definition;
  handlers: Handlers;
} {
  const { db, tables } = deps;
  return {
    definition,
    handlers: {
      stageRecords: async ({ importId, type, tenant, batch, records }) => {
        await db.pool.query(
          `insert into import_staging (import_id, type, tenant, batch, records) values ($1, $2, $3, $4, $5) on conflict do nothing`,
          [
            importId,
            type,
            tenant,
            batch,
            sealStaged(deps.sealer, { importId, type, tenant, batch }, Buffer.from(records).toString('utf8')),
          ],
        );
        return {};
      },
      rehearse: (request) => rehearse(deps, request),
      apply: async (request) => {
        const outcome = await apply(deps, request);
        await deps.applied?.();
        return outcome;
      },
      listFates: ({ importId }) => fatesOf(db.pool, importId),
      activate: async ({ tenant, deploymentIds, withSchedules }) => {
        if (!tables.activate) return { deployments: 0, schedules: 0 };
        return await inSession(db.pool, 'begin', 'commit', (client) =>
          tables.activate!(client, { tenant, deploymentIds, withSchedules }),
        );
      },
      discardImport: async ({ importId }) => {
        await db.pool.query('delete from import_staging where import_id = $1', [importId]);
        await db.pool.query('delete from import_fates where import_id = $1', [importId]);
        await tables.discarded?.(db.pool, importId);
        return {};
      },
      exportRecords: (request) => exported(deps, request),
    },
  };
}

/** Fates are written beside the transaction, which a rehearsal rolls back. */
async function bookOf(pool: Pool, importId: string): Promise<FateBook> {
  await pool.query('delete from import_fates where import_id = $1', [importId]);
  return new FateBook(async (lines) => {
    if (lines.length === 0) return;
    await pool.query('insert into import_fates (import_id, line) select $1, unnest($2::text[])', [
      importId,
      lines,
    ]);
  });
}

async function rehearse(
  { db, tables, sealer }: ImportPartDeps,
  request: importsRpc.ImportRequest,
): Promise<importsRpc.ImportOutcome> {
  const book = await bookOf(db.pool, request.importId);
  await inSession(db.pool, 'begin', 'rollback', (client) =>
    takeRecords(client, tables, request, book, true, sealer),
  );
  return await book.close();
}

/**
 * Writes everything, once. Crash before the commit: nothing happened, and the job asks again; after it: the repeat finds the mark
 * and answers the first outcome.
 */
async function apply(
  { db, tables, log, sealer }: ImportPartDeps,
  request: importsRpc.ImportRequest,
): Promise<importsRpc.ImportOutcome> {
  return await inSession(db.pool, 'begin', 'commit', async (client) => {
    // The row is also the lock: a second call waits here for the end of the first.
    const { rows } = await client.query<{ outcome: importsRpc.ImportOutcome | null }>(
      `insert into import_marks (import_id) values ($1)
       on conflict (import_id) do update set import_id = excluded.import_id returning outcome`,
      [request.importId],
    );
    const done = rows[0]?.outcome;
    if (done) return done;
    const book = await bookOf(db.pool, request.importId);
    await takeRecords(client, tables, request, book, false, sealer);
    const outcome = await book.close();
    refuseChanged(request, outcome);
    await client.query('update import_marks set outcome = $2, applied_at = app_now() where import_id = $1', [
      request.importId,
      JSON.stringify(outcome),
    ]);
    log.info({ importId: request.importId, types: outcome.types.length }, 'imported');
    return outcome;
  });
}

/** @throws AppError conflict_error */
function refuseChanged({ metDigest }: importsRpc.ImportRequest, outcome: importsRpc.ImportOutcome): void {
  const conflicts = outcome.types.filter((type) => type.conflicts > 0);
  if (conflicts.length > 0)
    throw new AppError(
      'conflict_error',
      `Objects are here already with other content: ${conflicts.map((c) => `${c.conflicts} ${c.type}`).join(', ')}`,
    );
  if (metDigest !== '' && metDigest !== outcome.metDigest)
    throw new AppError('conflict_error', 'Objects of this manager have changed since the check; check again');
}

async function* fatesOf(pool: Pool, importId: string): AsyncGenerator<importsRpc.FatePiece> {
  for (let after = 0; ; ) {
    const { rows } = await pool.query<{ seq: string; line: string }>(
      'select seq, line from import_fates where import_id = $1 and seq > $2 order by seq limit $3',
      [importId, after, LINES_A_PIECE],
    );
    if (rows.length === 0) return;
    yield { lines: Buffer.from(rows.map(({ line }) => line).join('\n')) };
    after = Number(rows.at(-1)!.seq);
  }
}

const lineOf = (item: JsonObject | string): string =>
  typeof item === 'string' ? `{"item":${item}}` : JSON.stringify({ item });

/** One instant for all records: the reads share a transaction. */
async function* exported(
  { db, tables }: ImportPartDeps,
  request: importsRpc.ExportRecordsRequest,
): AsyncGenerator<importsRpc.RecordsPiece> {
  if (!tables.exported) return;
  const client: PoolClient = await db.pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0');
    const wanted = {
      tenant: request.tenant,
      deploymentId: request.deploymentId,
      closure: JSON.parse(request.closureJson || '{}') as JsonObject,
      includeEvents: request.includeEvents,
      bundleKey: request.bundleKey,
    };
    for await (const { type, items, blobs } of tables.exported(client, wanted))
      yield {
        type,
        records: Buffer.from(items.map(lineOf).join('\n')),
        blobs: blobs ?? [],
      };
  } finally {
    await client.query('rollback').then(
      () => client.release(),
      (cause: Error) => client.release(cause),
    );
  }
}
