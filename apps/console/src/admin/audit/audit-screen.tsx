/** The audit log: which user changed which resource, newest first, updated live. */
import { Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTenant } from '../../api/api-context';
import { type AuditRow, auditList } from '../../api/audit';
import { t } from '../../text/text';
import { InstantField } from '../../ui/instant-field';
import { timeColumn } from '../../ui/list-columns';
import { ListScreen } from '../../ui/list-screen';
import cells from '../../ui/row-cells.module.css';
import { SearchBox } from '../../ui/search-box';
import { Empty } from '../../ui/states';
import { Time } from '../../ui/time';
import bar from '../../ui/toolbar.module.css';
import { useAddress } from '../../ui/use-address';
import type { ListColumn } from '../../ui/virtual-list';
import { type AuditSearch, subjectOf } from './audit-search';
import { useAuditTail } from './use-audit-tail';

export function AuditScreen() {
  const tenant = useTenant();
  return (
    <ListScreen
      name={t.audit.title}
      label={t.audit.title}
      list={auditList}
      columns={columns(tenant)}
      keyOf={({ id }) => String(id)}
      count={t.audit.count}
      sort={NO_SORT}
      filters={<Filters />}
      empty={<Empty title={t.audit.empty} />}
    />
  );
}

/** The log has one fixed order. */
const NO_SORT: readonly string[] = [];

function Filters() {
  const { search, change } = useAddress<AuditSearch>();
  const state = useAuditTail(search);
  const setWho = useCallback((text: string) => change({ creator_name: text || undefined }), [change]);
  const setExecution = useCallback((text: string) => change({ execution_id: text || undefined }), [change]);
  const names = t.audit.filters;
  return (
    <>
      <SearchBox label={names.who} value={search.creator_name ?? ''} onChange={setWho} />
      <SearchBox label={names.execution} value={search.execution_id ?? ''} onChange={setExecution} />
      <InstantField
        label={names.since}
        value={search.since}
        onChange={(since) => change({ since, before: undefined })}
      />
      <InstantField
        label={names.before}
        value={search.before}
        onChange={(before) => change({ before, since: undefined })}
      />
      <span className={bar.count} role="status">
        {t.log.states[state]}
      </span>
    </>
  );
}

function columns(tenant: string): ListColumn<AuditRow>[] {
  const names = t.audit.columns;
  return [
    timeColumn('time', names.time, (row) => row.created_at),
    {
      id: 'who',
      name: names.who,
      width: 'minmax(90px, 1fr)',
      isWideOnly: true,
      cell: ({ creator_name }) => creator_name,
    },
    {
      id: 'operation',
      name: names.operation,
      width: '90px',
      isWideOnly: true,
      cell: ({ operation }) => t.audit.operations[operation],
    },
    {
      id: 'what',
      name: names.what,
      width: 'minmax(160px, 2.4fr)',
      cell: (row) => <WhatCell row={row} />,
    },
    {
      id: 'execution',
      name: names.execution,
      width: 'minmax(100px, 1fr)',
      isWideOnly: true,
      cell: ({ execution_id: id }) =>
        id ? (
          <Link to="/$tenant/executions/$id" params={{ tenant, id }}>
            {id}
          </Link>
        ) : (
          t.none
        ),
    },
    {
      id: 'request',
      name: names.request,
      width: 'minmax(80px, 1fr)',
      isWideOnly: true,
      cell: ({ request_id }) => <span className={cells.quiet}>{request_id}</span>,
    },
  ];
}

function WhatCell({ row }: { row: AuditRow }) {
  const { tenant } = row.ref_identifier;
  return (
    <span className={cells.main}>
      <span className={cells.cut} title={JSON.stringify(row.ref_identifier)}>
        <span className={cells.quiet}>{row.ref_table.replaceAll('_', ' ')}</span> {subjectOf(row)}
        {typeof tenant === 'string' && <span className={cells.quiet}> · {tenant}</span>}
      </span>
      <span className={`${cells.line} narrow-only`}>
        <Time at={row.created_at} />
        <span>
          {row.creator_name} {t.audit.operations[row.operation]}
        </span>
      </span>
    </span>
  );
}
