/** Providers: external stores of secrets. Their connection parameters can be written but are never shown. */
import { Link } from '@tanstack/react-router';
import { useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { timeColumn, visibilityColumn } from '../../ui/list-columns';
import { ListScreen } from '../../ui/list-screen';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import { useRowDialogs } from '../../ui/use-row-dialogs';
import type { ListColumn } from '../../ui/virtual-list';
import { VisibilityText } from '../../ui/visibility';
import { ProviderForm } from './provider-form';
import { deleteProvider, PROVIDERS, type ProviderRow, providerList } from './providers';

const SORT = ['name'];

export function ProvidersScreen() {
  const tenant = useTenant();
  const { open, close, create, actions } = useRowDialogs<ProviderRow>('secrets_provider', t.providers.create);
  return (
    <>
      <ListScreen
        name={t.providers.title}
        label={t.providers.title}
        above={
          <Link to="/$tenant/secrets" params={{ tenant }}>
            {t.secrets.title}
          </Link>
        }
        list={providerList}
        columns={[...COLUMNS, actions]}
        keyOf={({ tenant_name, name }) => `${tenant_name} ${name}`}
        count={t.providers.count}
        sort={SORT}
        searchLabel={t.providers.search}
        side={create}
        empty={<Empty title={t.providers.empty} hint={t.providers.emptyHint} action={create} />}
      />
      {open?.kind === 'create' && <ProviderForm provider={null} onClose={close} />}
      {open?.kind === 'edit' && <ProviderForm provider={open.row} onClose={close} />}
      {open?.kind === 'delete' && <DeleteProvider name={open.row.name} onClose={close} />}
    </>
  );
}

const COLUMNS: ListColumn<ProviderRow>[] = [
  {
    id: 'name',
    name: t.providers.name,
    width: 'minmax(150px, 2fr)',
    cell: (row) => (
      <span className={cells.main}>
        <strong className={cells.cut}>{row.name}</strong>
        <span className={`${cells.line} narrow-only`}>
          <span>{t.providers.types[row.type]}</span>
          <VisibilityText of={row.visibility} />
        </span>
      </span>
    ),
  },
  {
    id: 'type',
    name: t.providers.type,
    width: 'minmax(120px, 1fr)',
    isWideOnly: true,
    cell: (row) => t.providers.types[row.type],
  },
  visibilityColumn(),
  timeColumn('updated', t.resource.updated, (row) => row.updated_at),
];

function DeleteProvider({ name, onClose }: { name: string; onClose: () => void }) {
  const remove = useChange([PROVIDERS], (client, tenant) => deleteProvider(client, tenant, name), onClose);
  return (
    <ConfirmDialog
      title={t.providers.deleteOf(name)}
      text={t.providers.deleteText}
      action={t.providers.deleteSubmit}
      mutation={remove}
      onClose={onClose}
    />
  );
}
