/** Agents that node instances have installed on machines. */
import type { ItemOf } from '@baton/client';
import { Link } from '@tanstack/react-router';
import { useTenant } from '../../api/api-context';
import { listOf } from '../../api/lists';
import { statusText, t } from '../../text/text';
import { ListScreen } from '../../ui/list-screen';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import type { ListColumn } from '../../ui/virtual-list';

type AgentRow = ItemOf<'listAgents'>;

const agentList = listOf<AgentRow>('agents', 'listAgents', [
  'id',
  'ip',
  'install_method',
  'system',
  'version',
  'deployment',
  'state',
]);

export function AgentsScreen() {
  const tenant = useTenant();
  return (
    <ListScreen
      name={t.agents.title}
      label={t.agents.title}
      list={agentList}
      columns={columns(tenant)}
      keyOf={({ id }) => id}
      count={t.agents.count}
      sort={BY_NAME}
      searchLabel={t.agents.search}
      empty={<Empty title={t.agents.empty} hint={t.agents.emptyHint} />}
    />
  );
}

const BY_NAME = ['id'];

function columns(tenant: string): ListColumn<AgentRow>[] {
  const names = t.agents.columns;
  return [
    {
      id: 'id',
      name: names.id,
      width: 'minmax(140px, 2fr)',
      cell: (row) => (
        <span className={cells.main}>
          <Link
            className={cells.link}
            to="/$tenant/deployments/$id/$tab"
            params={{ tenant, id: row.deployment, tab: 'nodes' }}
          >
            {row.id}
          </Link>
          <span className={`${cells.line} narrow-only`}>
            <span>{statusText(row.state)}</span>
            <span className={cells.quiet}>{row.ip}</span>
          </span>
        </span>
      ),
    },
    {
      id: 'state',
      name: names.state,
      width: '120px',
      isWideOnly: true,
      cell: ({ state }) => statusText(state),
    },
    {
      id: 'deployment',
      name: names.deployment,
      width: 'minmax(110px, 1.4fr)',
      isWideOnly: true,
      cell: ({ deployment }) => deployment,
    },
    {
      id: 'ip',
      name: names.ip,
      width: 'minmax(100px, 1fr)',
      isWideOnly: true,
      cell: ({ ip }) => ip ?? t.none,
    },
    {
      id: 'method',
      name: names.method,
      width: 'minmax(90px, 1fr)',
      isWideOnly: true,
      cell: ({ install_method }) => install_method ?? t.none,
    },
    {
      id: 'system',
      name: names.system,
      width: 'minmax(90px, 1fr)',
      isWideOnly: true,
      cell: ({ system }) => system ?? t.none,
    },
    {
      id: 'version',
      name: names.version,
      width: '100px',
      isWideOnly: true,
      cell: ({ version }) => version ?? t.none,
    },
  ];
}
