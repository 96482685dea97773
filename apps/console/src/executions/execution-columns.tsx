import { Link } from '@tanstack/react-router';
import { type ExecutionRow, hasEnded } from '../api/executions';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Progress } from '../ui/progress';
import cells from '../ui/row-cells.module.css';
import { Time, Took } from '../ui/time';
import type { ListColumn } from '../ui/virtual-list';

export function executionColumns(tenant: string): ListColumn<ExecutionRow>[] {
  return [
    {
      id: 'workflow',
      name: t.executions.columns.workflow,
      width: 'minmax(170px, 1.8fr)',
      cell: (row) => <WorkflowCell row={row} tenant={tenant} />,
    },
    {
      id: 'deployment',
      name: t.executions.columns.deployment,
      width: 'minmax(130px, 1.4fr)',
      isWideOnly: true,
      cell: (row) => <DeploymentCell row={row} tenant={tenant} />,
    },
    {
      id: 'status',
      name: t.executions.columns.status,
      width: 'minmax(130px, 0.9fr)',
      isWideOnly: true,
      cell: (row) => <Badge status={row.status} />,
    },
    {
      id: 'progress',
      name: t.executions.columns.progress,
      width: 'minmax(110px, 0.9fr)',
      isWideOnly: true,
      cell: (row) => <ProgressCell row={row} />,
    },
    {
      id: 'started',
      name: t.executions.columns.started,
      width: '170px',
      isWideOnly: true,
      cell: (row) => <Time at={row.started_at ?? row.created_at} />,
    },
    {
      id: 'took',
      name: t.executions.columns.took,
      width: '90px',
      isWideOnly: true,
      cell: (row) => <Took from={row.started_at} to={row.ended_at} />,
    },
    {
      id: 'by',
      name: t.executions.columns.by,
      width: 'minmax(60px, 0.6fr)',
      isWideOnly: true,
      cell: (row) => row.created_by ?? t.none,
    },
  ];
}

function WorkflowCell({ row, tenant }: { row: ExecutionRow; tenant: string }) {
  return (
    <span className={cells.main}>
      <Link className={cells.link} to="/$tenant/executions/$id" params={{ tenant, id: row.id ?? '' }}>
        {row.workflow_id}
      </Link>
      <span className={`${cells.sub} narrow-only`}>{row.deployment_id ?? t.executions.system}</span>
      <span className={`${cells.line} narrow-only`}>
        <Badge status={row.status} isBare />
        <Took from={row.started_at} to={row.ended_at} />
      </span>
    </span>
  );
}

function DeploymentCell({ row, tenant }: { row: ExecutionRow; tenant: string }) {
  if (!row.deployment_id) return <span className={cells.quiet}>{t.executions.system}</span>;
  return (
    <Link className={cells.above} to="/$tenant/deployments/$id" params={{ tenant, id: row.deployment_id }}>
      {row.deployment_display_name ?? row.deployment_id}
    </Link>
  );
}

function ProgressCell({ row }: { row: ExecutionRow }) {
  const { finished_operations: finished, total_operations: total } = row;
  if (!total) return <>{t.none}</>;
  if (hasEnded(row.status)) return <span className={cells.quiet}>{t.of(finished ?? 0, total)}</span>;
  return <Progress finished={finished ?? 0} total={total} />;
}
