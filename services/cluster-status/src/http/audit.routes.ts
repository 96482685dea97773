import { setTimeout as delay } from 'node:timers/promises';
import { auditRoutes } from '@baton/contracts/http/audit';
import { answer, type BoundRoute, bindRoutes, type StreamEvent } from '@baton/http';
import { badParameter, type Clock, newId } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import {
  type AuditFilter,
  type AuditRow,
  appendAudit,
  countAudit,
  lastAuditId,
  readAudit,
  truncateAudit,
} from '../store/audit.sql';
import type { DB } from '../store/tables.gen';

const DEFAULT_SIZE = 100;
/** `size=0` asks for everything; more than this is read page by page. */
const MOST = 10_000;
const STREAM_PAGE = 500;
const LOOK_MS = 1_000;

interface Deps {
  db: Db<DB>;
  clock: Clock;
}
interface About {
  creator_name?: string;
  execution_id?: string;
  since?: string;
  before?: string;
}

/** The audit log (reference/rest-api.md 5.28). */
export function auditHttp({ db, clock }: Deps): BoundRoute[] {
  return bindRoutes(auditRoutes, {
    async listAudit({ query }) {
      if (query.since !== undefined && query.before !== undefined)
        throw badParameter('before', '`since` and `before` exclude each other', { expected: 'one of both' });
      const filter = filterOf(query);
      const { offset = 0, size = DEFAULT_SIZE } = query;
      const page = {
        orders: query.order_by === undefined ? [] : [query.order_by].flat(),
        isDescending: query.desc?.toLowerCase() === 'true',
        offset,
        limit: size === 0 ? MOST : size,
      };
      const [rows, total] = await Promise.all([
        readAudit(db.query, filter, page),
        countAudit(db.query, filter),
      ]);
      return { items: rows.map(present), metadata: { pagination: { total, offset, size } } };
    },
    streamAudit: ({ query, signal }) =>
      answer({ stream: follow({ db, clock }, filterOf(query), (query.timeout ?? 0) * 1000, signal) }),
    async injectAudit({ body, principal, requestId }) {
      await db.tx((tx) =>
        appendAudit(
          tx,
          body.map((entry) => ({
            message_id: newId(),
            ref_table: entry.ref_table,
            ref_id: String(entry.ref_id ?? ''),
            ref_identifier: entry.ref_identifier ?? {},
            operation: entry.operation,
            creator_name: entry.creator_name ?? principal.username,
            execution_id: entry.execution_id ?? null,
            request_id: requestId,
            created_at: entry.created_at,
          })),
        ),
      );
    },
    truncateAudit: async ({ query }) => ({
      deleted: await db.tx((tx) => truncateAudit(tx, filterOf(query))),
    }),
  });
}

const filterOf = (query: About): AuditFilter => ({
  creatorName: query.creator_name,
  executionId: query.execution_id,
  since: query.since,
  before: query.before,
});

function present({ message_id: _message, previous: _previous, ...shown }: AuditRow) {
  return shown;
}

/**
 * Entries as they come: from `since`, else from now on. Ends after `timeoutMs` without an entry (0: never), or with the
 * client. A row is given its id under the lock of the chain, so none appears behind one that was already sent.
 */
async function* follow(
  { db, clock }: Deps,
  filter: AuditFilter,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let afterId = filter.since === undefined ? await lastAuditId(db.query) : 0;
  let lastMs = clock.monotonic();
  while (!signal.aborted) {
    const rows = await readAudit(
      db.query,
      { ...filter, afterId },
      { orders: [], isDescending: false, offset: 0, limit: STREAM_PAGE },
    );
    for (const row of rows) {
      afterId = row.id;
      lastMs = clock.monotonic();
      yield { id: String(row.id), data: present(row) };
    }
    if (rows.length === STREAM_PAGE) continue;
    if (timeoutMs > 0 && clock.monotonic() - lastMs >= timeoutMs) return;
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
