/** The task graph as a list: each task with the tasks it waits for, and counts by stage and state. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ExecutionGraph } from '../api/answers';
import { useApi, useTenant } from '../api/api-context';
import { graphQuery } from '../api/executions';
import { statusText, t } from '../text/text';
import { Badge } from '../ui/badge';
import { Panel } from '../ui/panel';
import cells from '../ui/row-cells.module.css';
import { SimpleTable } from '../ui/simple-table';
import { Empty, Loaded } from '../ui/states';
import styles from './graph-tab.module.css';
import { type TaskRow, taskRows } from './task-rows';

/** Maximum of listed tasks. The timeline, which is virtual, shows all. */
const MOST_ROWS = 200;
const MOST_NAMES = 4;

export default function GraphTab({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(graphQuery(client, useTenant(), id));
  return <Loaded query={query}>{(graph) => <Stages graph={graph} />}</Loaded>;
}

function Stages({ graph }: { graph: ExecutionGraph }) {
  const rows = useMemo(() => taskRows(graph), [graph]);
  const byId = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows]);
  if (rows.length === 0) return <Empty title={t.gantt.empty} hint={graph.error ?? t.gantt.emptyHint} />;
  return (
    <div className={styles.stack}>
      {graph.graphs.map((stage) => {
        const own = rows.filter((row) => row.stage === stage.name);
        return (
          <Panel key={stage.id ?? stage.name} title={stage.name} side={<Counts rows={own} />}>
            {own.length > MOST_ROWS && <p className={cells.quiet}>{t.gantt.shown(MOST_ROWS, own.length)}</p>}
            <SimpleTable
              label={stage.name}
              rows={own.slice(0, MOST_ROWS)}
              keyOf={(row) => row.id}
              columns={[
                {
                  name: t.gantt.task,
                  cell: (row) => (
                    <>
                      <strong>{row.name}</strong> <span className={cells.quiet}>{row.about}</span>
                    </>
                  ),
                },
                { name: t.gantt.state, cell: (row) => <Badge status={row.state} /> },
                { name: t.gantt.dependsOn, cell: (row) => namesOf(row, byId) },
                ...(own.some(({ error }) => error !== null)
                  ? [
                      {
                        name: t.gantt.error,
                        cell: (row: TaskRow) => <span className={cells.bad}>{row.error}</span>,
                      },
                    ]
                  : []),
              ]}
            />
          </Panel>
        );
      })}
    </div>
  );
}

function namesOf(row: TaskRow, byId: ReadonlyMap<string, TaskRow>): string {
  const names = row.dependencies.flatMap((id) => {
    const other = byId.get(id);
    return other ? [[other.name, other.about].filter(Boolean).join(' ')] : [];
  });
  const more = names.length - MOST_NAMES;
  return [...names.slice(0, MOST_NAMES), ...(more > 0 ? [t.bulk.andMore(more)] : [])].join(', ') || t.none;
}

function Counts({ rows }: { rows: TaskRow[] }) {
  const counts = new Map<string, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <span className={cells.quiet}>
      {[...counts].map(([state, n]) => `${t.number(n)} ${statusText(state)}`).join(' · ')}
    </span>
  );
}
