import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { deploymentsOfQuery, importersQuery } from '../api/blueprints';
import { t } from '../text/text';
import { Badge } from '../ui/badge';
import { Panel } from '../ui/panel';
import cells from '../ui/row-cells.module.css';
import { SimpleTable } from '../ui/simple-table';
import { Loaded } from '../ui/states';
import { Time } from '../ui/time';
import styles from './overview-tab.module.css';

export default function UsesTab({ id }: { id: string }) {
  return (
    <div className={styles.stack}>
      <Panel title={t.blueprint.deploymentsOf}>
        <Deployments id={id} />
      </Panel>
      <Panel title={t.blueprint.importers}>
        <Importers id={id} />
      </Panel>
    </div>
  );
}

function Deployments({ id }: { id: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(deploymentsOfQuery(client, tenant, id));
  return (
    <Loaded query={query}>
      {({ items, total }) =>
        items.length === 0 ? (
          <p className={cells.quiet}>{t.blueprint.noDeployments}</p>
        ) : (
          <>
            <SimpleTable
              label={t.blueprint.deploymentsOf}
              rows={items}
              keyOf={(one) => one.id}
              columns={[
                {
                  name: t.blueprint.deployment,
                  cell: (one) => (
                    <Link to="/$tenant/deployments/$id" params={{ tenant, id: one.id }}>
                      {one.display_name || one.id}
                    </Link>
                  ),
                },
                { name: t.blueprint.status, cell: (one) => <Badge status={one.deployment_status} isBare /> },
                { name: t.blueprint.created, cell: (one) => <Time at={one.created_at} /> },
              ]}
            />
            {total > items.length && (
              <Link to="/$tenant/deployments" params={{ tenant }} search={{ blueprint_id: id } as never}>
                {t.blueprint.allDeployments(total)}
              </Link>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Importers({ id }: { id: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const query = useQuery(importersQuery(client, tenant, id));
  return (
    <Loaded query={query}>
      {({ items, total }) =>
        items.length === 0 ? (
          <p className={cells.quiet}>{t.blueprint.noImporters}</p>
        ) : (
          <>
            {total > items.length && <p className={cells.quiet}>{t.of(items.length, total)}</p>}
            <SimpleTable
              label={t.blueprint.importers}
              rows={items}
              keyOf={(one) => one.id}
              columns={[
                {
                  name: t.blueprint.blueprint,
                  cell: (one) => (
                    <Link to="/$tenant/blueprints/$id/$tab" params={{ tenant, id: one.id, tab: 'overview' }}>
                      {one.id}
                    </Link>
                  ),
                },
                { name: t.blueprint.by, cell: (one) => one.created_by },
                { name: t.blueprint.created, cell: (one) => <Time at={one.created_at} /> },
              ]}
            />
          </>
        )
      }
    </Loaded>
  );
}
