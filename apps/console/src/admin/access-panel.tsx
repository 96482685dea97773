/** Why a user has each of its roles: by hand, by a user group, or by the mapping of an identity provider. */
import type { AnswerOf } from '@baton/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { accessQuery } from '../api/people';
import { t } from '../text/text';
import { Facts } from '../ui/facts';
import { Panel } from '../ui/panel';
import { type Column, SimpleTable } from '../ui/simple-table';
import { Loaded } from '../ui/states';
import styles from './admin.module.css';

type Access = AnswerOf<'getUserAccess'>;
type Source = Access['system_roles'][number]['from'][number];

export function AccessPanel({ username }: { username: string }) {
  const { client } = useApi();
  const query = useQuery(accessQuery(client, useTenant(), username));
  return (
    <Panel title={t.access.title}>
      <Loaded query={query}>{(access) => <Shown access={access} />}</Loaded>
    </Panel>
  );
}

interface Row {
  /** Null: in the manager. */
  tenant: string | null;
  role: string;
  from: Source[];
}

const rowsOf = ({ system_roles: system, tenants }: Access): Row[] => [
  ...system.map((held) => ({ tenant: null, ...held })),
  ...tenants.flatMap(({ name, roles }) => roles.map((held) => ({ tenant: name, ...held }))),
];

function Shown({ access }: { access: Access }) {
  const tenant = useTenant();
  return (
    <div className={styles.stack}>
      <Facts
        facts={[
          [t.access.kind, t.access.kinds[access.kind]],
          [t.access.provider, access.provider],
          [t.access.subject, access.subject],
          [t.access.providerGroups, access.provider_groups.join(', ')],
        ]}
      />
      {!access.active && <p className={styles.warning}>{t.access.inactive}</p>}
      <SimpleTable
        label={t.access.title}
        rows={rowsOf(access)}
        keyOf={(row) => `${row.tenant ?? ''} ${row.role}`}
        columns={columns(tenant)}
      />
      {access.sees_all_tenants && <p>{t.access.allTenants}</p>}
    </div>
  );
}

const columns = (tenant: string): Column<Row>[] => [
  { name: t.access.where, cell: (row) => row.tenant ?? t.access.manager },
  { name: t.people.role, cell: ({ role }) => role },
  {
    name: t.access.because,
    cell: ({ from }) => (
      <ul className={styles.plain}>
        {from.map((source) => (
          <li key={`${source.kind} ${source.name ?? ''}`}>
            <Because source={source} tenant={tenant} />
          </li>
        ))}
      </ul>
    ),
  },
];

function Because({ source, tenant }: { source: Source; tenant: string }) {
  const { kind, name, groups } = source;
  if (name === null) return <>{t.access.byHand}</>;
  if (kind === 'group')
    return (
      <>
        {t.access.byGroup}{' '}
        <Link to="/$tenant/admin/groups/$id" params={{ tenant, id: name }}>
          {name}
        </Link>
      </>
    );
  return <>{t.access.byProvider(name, groups)}</>;
}
