/** Tenants: their members and their limits. */
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, useState } from 'react';
import { useMay, useTenant } from '../../api/api-context';
import { PEOPLE, type TenantRow, tenantList } from '../../api/people';
import { SESSION_KEY } from '../../api/session';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { TextField } from '../../ui/inputs';
import { ListScreen } from '../../ui/list-screen';
import { OpensDialog } from '../../ui/opens-dialog';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import type { ListColumn } from '../../ui/virtual-list';
import { sizeOf } from '../memberships';

const FormDialog = lazy(async () => ({ default: (await import('../../ui/form-dialog')).FormDialog }));

export function TenantsScreen() {
  const may = useMay();
  const tenant = useTenant();
  return (
    <ListScreen
      name={t.tenants.title}
      label={t.tenants.title}
      list={tenantList}
      columns={columns(tenant)}
      keyOf={({ name }) => name}
      count={t.tenants.count}
      sort={BY_NAME}
      searchLabel={t.tenants.search}
      empty={<Empty title={t.tenants.empty} />}
      side={
        may('tenant_create') && (
          <OpensDialog text={t.tenants.create}>{(close) => <NewTenant onClose={close} />}</OpensDialog>
        )
      }
    />
  );
}

const BY_NAME = ['name'];

/** Creates a tenant, then opens its screen: adding users is the next step. */
function NewTenant({ onClose }: { onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [name, setName] = useState('');
  const create = useChange<string>(
    PEOPLE,
    (client, ofTenant, made) =>
      client.call('createTenant', { tenant: ofTenant, params: { name: made }, body: {} }),
    (_answer, made) => {
      onClose();
      // The tenant select in the header reads its tenants from the session.
      void cache.invalidateQueries({ queryKey: SESSION_KEY });
      void navigate({ to: '/$tenant/admin/tenants/$id', params: { tenant, id: made } });
    },
  );
  return (
    <FormDialog
      title={t.tenants.create}
      submit={t.tenants.create}
      mutation={create}
      isIncomplete={name === ''}
      onSubmit={() => create.mutate(name)}
      onClose={onClose}
    >
      {(errorOf) => (
        <TextField
          label={t.tenants.name}
          hint={t.tenants.nameHint}
          error={errorOf('name')}
          isRequired
          value={name}
          onChange={setName}
        />
      )}
    </FormDialog>
  );
}

function columns(tenant: string): ListColumn<TenantRow>[] {
  const names = t.tenants.columns;
  return [
    {
      id: 'name',
      name: names.name,
      width: 'minmax(150px, 3fr)',
      cell: (row) => (
        <span className={cells.main}>
          <Link className={cells.link} to="/$tenant/admin/tenants/$id" params={{ tenant, id: row.name }}>
            {row.name}
          </Link>
          <span className={`${cells.sub} narrow-only`}>{t.users.count(sizeOf(row.users))}</span>
        </span>
      ),
    },
    {
      id: 'users',
      name: names.users,
      width: '100px',
      isWideOnly: true,
      cell: ({ users }) => t.number(sizeOf(users)),
    },
    {
      id: 'groups',
      name: names.groups,
      width: '100px',
      isWideOnly: true,
      cell: ({ groups }) => t.number(sizeOf(groups)),
    },
  ];
}
