/** The audit log. Its parameters are older than the conventions for lists and have no leading underscore. */
import type { Schemas } from '@baton/client';
import type { ListSource } from './lists';
import { PAGE_SIZE, pageOf } from './pages';

export type AuditRow = Schemas['AuditEntry'];

export const AUDIT = 'audit';

/** Newest first. The order is by id, which increases with time, so no entry appears on two pages. */
export const auditList: ListSource<AuditRow> = {
  kind: AUDIT,
  page: (client, tenant, { _sort, ...filters }, offset) => ({
    queryKey: [AUDIT, tenant, 'page', filters, offset],
    queryFn: async ({ signal }) =>
      pageOf<AuditRow>(
        await client.call('listAudit', {
          signal,
          query: { ...filters, order_by: 'id', desc: true, size: PAGE_SIZE, offset },
        }),
      ),
  }),
};
