/** Filters of the audit log, kept in the address. */
import type { ApiQuery } from '../../api/pages';
import { textOf } from '../../search-params';

export interface AuditSearch {
  creator_name?: string;
  execution_id?: string;
  since?: string;
  before?: string;
}

const instantOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
};

/** Reads the filters. The API accepts only one end of a time range: when the address has both, `since` wins. */
export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const since = instantOf(search.since);
  return {
    creator_name: textOf(search.creator_name),
    execution_id: textOf(search.execution_id),
    since,
    before: since === undefined ? instantOf(search.before) : undefined,
  };
}

/** The filters that the event stream accepts. The stream sends only new entries, so it has no time range. */
export const streamQuery = ({ creator_name, execution_id }: AuditSearch): ApiQuery => ({
  creator_name,
  execution_id,
});

/** Field names: `OF_PATH` come from the path of the request; `OF_BODY` come from its body, for paths without a name. */
const OF_PATH = ['id', 'name', 'key'];
const OF_BODY = ['username', 'group_name', 'deployment_id', 'workflow_id', 'tenant_name'];

/** Returns the name of the changed resource, to show to people. */
export function subjectOf({
  ref_id,
  ref_identifier: of,
}: {
  ref_id: string;
  ref_identifier: Record<string, unknown>;
}): string {
  const named = (fields: readonly string[]): string[] =>
    fields.flatMap((field) => {
      const value = of[field];
      return typeof value === 'string' && value !== '' ? [value] : [];
    });
  return named(OF_PATH)[0] ?? (ref_id || named(OF_BODY).join(', '));
}
