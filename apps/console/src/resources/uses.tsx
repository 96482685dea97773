/** Blueprints that need a resource. Used by the resource's screen and by its delete dialog. */
import type { Client } from '@baton/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { type Page, pageOf } from '../api/pages';
import { t } from '../text/text';
import { Panel } from '../ui/panel';
import { pathOf } from '../ui/path-of';
import { Loaded } from '../ui/states';
import styles from './uses.module.css';

interface Use {
  id: string;
}
/** Maximum of listed blueprints; the total is shown as well. */
const SHOWN = 20;

export type Used = { kind: 'secrets'; key: string } | { kind: 'plugins'; id: string };

/** The key begins with the kind of the resource, so a change of the resource reloads it. */
const usesQuery = (client: Client, tenant: string, used: Used) =>
  queryOptions({
    queryKey: [used.kind, tenant, 'uses', used],
    queryFn: async ({ signal }): Promise<Page<Use>> => {
      const about = { tenant, signal, query: { _include: 'id', _sort: 'id', _size: SHOWN } };
      return pageOf<Use>(
        used.kind === 'secrets'
          ? await client.call('listSecretUses', { ...about, params: { secret_key: used.key } })
          : await client.call('listPluginUses', { ...about, params: { plugin_id: used.id } }),
      );
    },
    staleTime: 0,
  });

export function useUses(used: Used) {
  const { client } = useApi();
  return useQuery(usesQuery(client, useTenant(), used));
}

export function UsesPanel({ used }: { used: Used }) {
  const uses = useUses(used);
  return (
    <Panel title={t.resource.uses}>
      <Loaded query={uses}>{(page) => <UsesList uses={page} />}</Loaded>
    </Panel>
  );
}

export function UsesList({ uses }: { uses: Page<Use> }) {
  const tenant = useTenant();
  if (uses.total === 0) return <p className={styles.quiet}>{t.uses.none}</p>;
  return (
    <>
      <p>{t.uses.count(uses.total)}</p>
      <ul className={styles.list}>
        {uses.items.map(({ id }) => (
          <li key={id}>
            <Link to={pathOf(tenant, 'blueprints', id)}>{id}</Link>{' '}
            <Link to="/$tenant/deployments" params={{ tenant }} search={{ blueprint_id: id }}>
              {t.uses.deployments}
            </Link>
          </li>
        ))}
        {uses.total > uses.items.length && <li>{t.resource.more(uses.total - uses.items.length)}</li>}
      </ul>
    </>
  );
}
