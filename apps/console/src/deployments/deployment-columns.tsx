import { Link } from '@tanstack/react-router';
import type { DeploymentRow } from '../api/deployments';
import { statusText, t } from '../text/text';
import { Badge } from '../ui/badge';
import { timeColumn } from '../ui/list-columns';
import { Progress } from '../ui/progress';
import cells from '../ui/row-cells.module.css';
import type { ListColumn } from '../ui/virtual-list';

interface ColumnOptions {
  tenant: string;
  selected: ReadonlyMap<string, DeploymentRow>;
  /** null: the user may start no workflow, so rows cannot be selected. */
  onSelect: ((row: DeploymentRow, isOn: boolean) => void) | null;
}

export function deploymentColumns({
  tenant,
  selected,
  onSelect,
}: ColumnOptions): ListColumn<DeploymentRow>[] {
  const columns: ListColumn<DeploymentRow>[] = [
    {
      id: 'name',
      name: t.deployments.columns.name,
      width: 'minmax(180px, 2.2fr)',
      cell: (row) => <NameCell row={row} tenant={tenant} />,
    },
    {
      id: 'blueprint',
      name: t.deployments.columns.blueprint,
      width: 'minmax(90px, 1.2fr)',
      isWideOnly: true,
      cell: (row) => row.blueprint_id ?? t.none,
    },
    {
      id: 'status',
      name: t.deployments.columns.status,
      width: 'minmax(152px, 0.9fr)',
      isWideOnly: true,
      cell: (row) => <Badge status={row.deployment_status} />,
    },
    {
      id: 'latest',
      name: t.deployments.columns.latest,
      width: 'minmax(180px, 1.6fr)',
      isWideOnly: true,
      cell: (row) => <LatestCell row={row} tenant={tenant} />,
    },
    {
      id: 'drift',
      name: t.deployments.columns.drift,
      width: 'minmax(112px, 0.8fr)',
      isWideOnly: true,
      cell: (row) => <DriftCell row={row} />,
    },
    timeColumn('created', t.deployments.columns.created, (row) => row.created_at),
  ];
  if (!onSelect) return columns;
  return [
    {
      id: 'select',
      name: '',
      width: '24px',
      cell: (row) => (
        <span className={cells.check}>
          <input
            type="checkbox"
            aria-label={t.deployments.select(row.id)}
            checked={selected.has(row.id)}
            onChange={(event) => onSelect(row, event.currentTarget.checked)}
          />
        </span>
      ),
    },
    ...columns,
  ];
}

function NameCell({ row, tenant }: { row: DeploymentRow; tenant: string }) {
  const parts = t.deployments.parts(row.sub_services_count, row.sub_environments_count);
  const hasName = row.display_name !== row.id;
  const sub = [hasName && row.id, parts].filter(Boolean).join(' · ');
  return (
    <span className={cells.main}>
      <Link className={cells.link} to="/$tenant/deployments/$id" params={{ tenant, id: row.id }}>
        {row.display_name || row.id}
      </Link>
      {sub && <span className={cells.sub}>{sub}</span>}
      <span className={`${cells.line} narrow-only`}>
        <Badge status={row.deployment_status} isBare />
        <DriftCell row={row} isQuiet />
        <span className={cells.quiet}>{row.latest_execution_workflow_id ?? t.deployments.never}</span>
      </span>
    </span>
  );
}

function LatestCell({ row, tenant }: { row: DeploymentRow; tenant: string }) {
  const { latest_execution: id, latest_execution_workflow_id: workflow } = row;
  if (!id) return <span className={cells.quiet}>{t.deployments.never}</span>;
  const isMoving = row.latest_execution_status === 'in_progress';
  return (
    <span className={cells.pair}>
      <Link className={`${cells.above} ${cells.cut}`} to="/$tenant/executions/$id" params={{ tenant, id }}>
        {workflow}
      </Link>
      {isMoving && row.latest_execution_total_operations > 0 ? (
        <Progress
          finished={row.latest_execution_finished_operations}
          total={row.latest_execution_total_operations}
        />
      ) : null}
      <Badge status={row.latest_execution_status} isBare />
    </span>
  );
}

function DriftCell({ row, isQuiet = false }: { row: DeploymentRow; isQuiet?: boolean }) {
  const { drifted_instances: drifted, unavailable_instances: unavailable } = row;
  // Unavailable instances of an uninstalled deployment are expected and not reported.
  if (row.installation_status === 'inactive' && drifted === 0)
    return <span className={cells.quiet}>{statusText('inactive')}</span>;
  const said = [
    drifted > 0 && t.deployments.drifted(drifted),
    unavailable > 0 && t.deployments.unavailable(unavailable),
  ].filter(Boolean);
  if (said.length > 0) return <span className={cells.bad}>{said.join(', ')}</span>;
  return isQuiet ? null : <span className={cells.quiet}>{t.deployments.noDrift}</span>;
}
