/** The list of secrets. Values are never shown. */
import { Link } from '@tanstack/react-router';
import { useMay, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { CreatingList } from '../../ui/creating-list';
import { timeColumn, visibilityColumn } from '../../ui/list-columns';
import cells from '../../ui/row-cells.module.css';
import type { ListColumn } from '../../ui/virtual-list';
import { VisibilityText } from '../../ui/visibility';
import { SecretForm } from './secret-form';
import { type SecretRow, secretList } from './secrets';

const SORT = ['key'];

export function SecretsScreen() {
  const tenant = useTenant();
  const may = useMay();
  return (
    <CreatingList
      name={t.secrets.title}
      label={t.secrets.title}
      list={secretList}
      columns={columnsFor(tenant)}
      keyOf={({ tenant_name, key }) => `${tenant_name} ${key}`}
      count={t.secrets.count}
      sort={SORT}
      searchLabel={t.secrets.search}
      side={
        may('secrets_provider_list') && (
          <Link className={cells.action} to="/$tenant/secrets-providers" params={{ tenant }}>
            {t.providers.title}
          </Link>
        )
      }
      permission="secret_create"
      create={t.secrets.create}
      empty={{ title: t.secrets.empty, hint: t.secrets.emptyHint }}
      form={(close) => <SecretForm onClose={close} />}
    />
  );
}

const columnsFor = (tenant: string): ListColumn<SecretRow>[] => [
  {
    id: 'key',
    name: t.secrets.key,
    width: 'minmax(180px, 2fr)',
    cell: (row) => (
      <span className={cells.main}>
        <Link className={cells.link} to="/$tenant/secrets/$key" params={{ tenant, key: row.key }}>
          {row.key}
        </Link>
        <span className={`${cells.line} narrow-only`}>
          <VisibilityText of={row.visibility} />
          {row.is_hidden_value && <span>{t.secrets.hidden}</span>}
        </span>
      </span>
    ),
  },
  visibilityColumn(),
  {
    id: 'hidden',
    name: t.secrets.value,
    width: 'minmax(110px, 0.9fr)',
    isWideOnly: true,
    cell: (row) => (row.is_hidden_value ? t.secrets.hidden : t.secrets.readable),
  },
  {
    id: 'provider',
    name: t.secrets.provider,
    width: 'minmax(90px, 0.9fr)',
    isWideOnly: true,
    cell: (row) => row.provider_name ?? t.none,
  },
  timeColumn('updated', t.resource.updated, (row) => row.updated_at),
  {
    id: 'by',
    name: t.resource.owner,
    width: 'minmax(70px, 0.7fr)',
    isWideOnly: true,
    cell: (row) => row.created_by,
  },
];
