import { Link } from '@tanstack/react-router';
import type { BlueprintRow } from '../api/blueprints';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { timeColumn } from '../ui/list-columns';
import cells from '../ui/row-cells.module.css';
import type { ListColumn } from '../ui/virtual-list';
import { VisibilityText } from '../ui/visibility';
import { BlueprintIcon } from './blueprint-icon';

export const blueprintColumns = (tenant: string): ListColumn<BlueprintRow>[] => [
  {
    id: 'name',
    name: t.blueprints.columns.name,
    width: 'minmax(180px, 2fr)',
    cell: (row) => (
      <span className={cells.pair}>
        <BlueprintIcon blueprint={row} />
        <NameCell row={row} tenant={tenant} />
      </span>
    ),
  },
  {
    id: 'state',
    name: t.blueprints.columns.state,
    width: 'minmax(150px, 0.9fr)',
    isWideOnly: true,
    cell: (row) => <Badge status={row.state} />,
  },
  {
    id: 'deployments',
    name: t.blueprints.columns.deployments,
    width: 'minmax(110px, 0.7fr)',
    isWideOnly: true,
    cell: (row) => <DeploymentsCell row={row} tenant={tenant} />,
  },
  {
    id: 'labels',
    name: t.blueprints.columns.labels,
    width: 'minmax(120px, 1.2fr)',
    isWideOnly: true,
    cell: (row) => <LabelsCell row={row} />,
  },
  {
    id: 'visibility',
    name: t.blueprints.columns.visibility,
    width: 'minmax(130px, 0.6fr)',
    isWideOnly: true,
    cell: (row) => <VisibilityText of={row.visibility} />,
  },
  timeColumn('created', t.blueprints.columns.created, (row) => row.created_at),
];

function NameCell({ row, tenant }: { row: BlueprintRow; tenant: string }) {
  // For a failed upload, show the reason instead of the description.
  const sub = row.error ?? row.description;
  return (
    <span className={cells.main}>
      <Link
        className={cells.link}
        to="/$tenant/blueprints/$id/$tab"
        params={{ tenant, id: row.id, tab: 'overview' }}
      >
        {row.id}
      </Link>
      {sub && (
        <span className={`${cells.sub} ${row.error ? cells.bad : ''}`} title={sub}>
          {sub}
        </span>
      )}
      <span className={`${cells.line} narrow-only`}>
        <Badge status={row.state} isBare />
        {row.deployments !== null && (
          <span className={cells.quiet}>{t.blueprints.deployments(row.deployments)}</span>
        )}
      </span>
    </span>
  );
}

function DeploymentsCell({ row, tenant }: { row: BlueprintRow; tenant: string }) {
  if (row.deployments === null) return <span className={cells.quiet}>{t.none}</span>;
  if (row.deployments === 0) return <span className={cells.quiet}>{t.number(0)}</span>;
  return (
    <Link
      className={cells.above}
      to="/$tenant/deployments"
      params={{ tenant }}
      search={{ blueprint_id: row.id } as never}
    >
      {t.number(row.deployments)}
    </Link>
  );
}

/** Shows the first label and the number of the others. */
function LabelsCell({ row }: { row: BlueprintRow }) {
  const texts = row.labels.map(({ key, value }) => `${key}: ${value}`);
  if (texts.length === 0) return null;
  return (
    <span title={t.blueprints.labelsTitle(texts.join(', '))}>
      {texts[0]}
      {texts.length > 1 && <span className={cells.quiet}> {t.blueprints.moreLabels(texts.length - 1)}</span>}
    </span>
  );
}
