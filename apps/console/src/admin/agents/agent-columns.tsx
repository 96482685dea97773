import { Link } from '@tanstack/react-router';
import { t } from '../../text/text';
import cells from '../../ui/row-cells.module.css';
import { Time } from '../../ui/time';
import type { ListColumn } from '../../ui/virtual-list';
import { AgentBadge, CertificateCell, VersionCell, WorkCell } from './agent-cells';
import type { AgentRow } from './agents';

interface ColumnOptions {
  tenant: string;
  selected: ReadonlyMap<string, AgentRow>;
  /** Null: the user may do nothing with agents, so rows cannot be selected. */
  onSelect: ((row: AgentRow, isOn: boolean) => void) | null;
}

export function agentColumns({ tenant, selected, onSelect }: ColumnOptions): ListColumn<AgentRow>[] {
  const names = t.agents.columns;
  const wide = { isWideOnly: true } as const;
  const columns: ListColumn<AgentRow>[] = [
    {
      id: 'name',
      name: names.name,
      width: 'minmax(160px, 1.8fr)',
      cell: (row) => <NameCell row={row} tenant={tenant} />,
    },
    {
      ...wide,
      id: 'state',
      name: names.state,
      width: 'minmax(176px, 1.1fr)',
      cell: (row) => <AgentBadge agent={row} />,
    },
    {
      ...wide,
      id: 'work',
      name: names.work,
      width: 'minmax(126px, 1fr)',
      cell: (row) => <WorkCell row={row} />,
    },
    {
      ...wide,
      id: 'version',
      name: names.version,
      width: 'minmax(124px, 1fr)',
      cell: (row) => <VersionCell row={row} />,
    },
    {
      ...wide,
      id: 'certificate',
      name: names.certificate,
      width: 'minmax(130px, 1fr)',
      cell: (row) => <CertificateCell certificate={row.certificate} />,
    },
    {
      ...wide,
      id: 'seen',
      name: names.seen,
      width: '184px',
      cell: (row) => <Time at={row.last_seen} />,
    },
  ];
  if (!onSelect) return columns;
  const select: ListColumn<AgentRow> = {
    id: 'select',
    name: '',
    width: '24px',
    cell: (row) => (
      <span className={cells.check}>
        <input
          type="checkbox"
          aria-label={t.agents.select(row.name)}
          checked={selected.has(row.name)}
          onChange={(event) => onSelect(row, event.currentTarget.checked)}
        />
      </span>
    ),
  };
  return [select, ...columns];
}

function NameCell({ row, tenant }: { row: AgentRow; tenant: string }) {
  return (
    <span className={cells.main}>
      <Link className={cells.link} to="/$tenant/admin/agents/$id" params={{ tenant, id: row.name }}>
        {row.name}
      </Link>
      <span className={cells.sub}>{[row.deployment_id, row.install_method].filter(Boolean).join(' · ')}</span>
      <span className={`${cells.line} narrow-only`}>
        <AgentBadge agent={row} isBare />
        <CertificateCell certificate={row.certificate} isQuiet />
        <span className={cells.quiet}>{row.version}</span>
      </span>
    </span>
  );
}
