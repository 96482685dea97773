import { auditRoutes } from '@baton/contracts/http/audit';
import { answer, type BoundRoute, bindRoutes, type StreamEvent } from '@baton/http';
import { badParameter, type Clock, newId } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { addAuditEntries, truncateAuditLog } from '../commands/audit-log';
import { followAudit, listAudit } from '../queries/audit-log';
import type { AuditFilter, AuditRow } from '../store/audit.sql';
import type { DB } from '../store/tables.gen';

const DEFAULT_SIZE = 100;
/** Largest page: `size=0` asks for everything, but more rows than this must be read page by page. */
const MOST = 10_000;

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
export function auditHttp(deps: Deps): BoundRoute[] {
  return bindRoutes(auditRoutes, {
    async listAudit({ query }) {
      if (query.since !== undefined && query.before !== undefined)
        throw badParameter('before', '`since` and `before` exclude each other', { expected: 'one of both' });
      const { offset = 0, size = DEFAULT_SIZE } = query;
      const page = {
        orders: query.order_by === undefined ? [] : [query.order_by].flat(),
        isDescending: query.desc?.toLowerCase() === 'true',
        offset,
        limit: size === 0 ? MOST : size,
      };
      const { items, total } = await listAudit(deps, filterOf(query), page);
      return { items: items.map(present), metadata: { pagination: { total, offset, size } } };
    },
    streamAudit({ query, signal }) {
      const end = { timeoutMs: (query.timeout ?? 0) * 1000, signal };
      return answer({ stream: eventsOf(followAudit(deps, filterOf(query), end)) });
    },
    async injectAudit({ body, principal, requestId }) {
      const entries = body.map((entry) => ({
        message_id: newId(),
        ref_table: entry.ref_table,
        ref_id: String(entry.ref_id ?? ''),
        ref_identifier: entry.ref_identifier ?? {},
        operation: entry.operation,
        creator_name: entry.creator_name ?? principal.username,
        execution_id: entry.execution_id ?? null,
        request_id: requestId,
        created_at: entry.created_at,
      }));
      await addAuditEntries(deps, entries);
    },
    truncateAudit: async ({ query }) => ({ deleted: await truncateAuditLog(deps, filterOf(query)) }),
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

async function* eventsOf(rows: AsyncIterable<AuditRow>): AsyncGenerator<StreamEvent> {
  for await (const row of rows) yield { id: String(row.id), data: present(row) };
}
