import { lazy, Suspense, useState } from 'react';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Panel } from '../../ui/panel';
import { type Column, SimpleTable } from '../../ui/simple-table';
import styles from '../admin.module.css';
import type { IdentityProvider, MappingRule } from './identity-providers';

const MappingDialog = lazy(() => import('./mapping-dialog'));

/** Which groups of the provider give which roles. */
export function MappingPanel({ provider }: { provider: IdentityProvider }) {
  const [isOpen, setOpen] = useState(false);
  const texts = t.identityProviders;
  const rows = provider.mapping.map((rule, at) => ({ ...rule, at }));
  return (
    <Panel title={texts.mapping} side={<Button onClick={() => setOpen(true)}>{texts.editMapping}</Button>}>
      {rows.length === 0 ? (
        <p className={styles.quiet}>{texts.noMapping}</p>
      ) : (
        <SimpleTable label={texts.mapping} rows={rows} keyOf={({ at }) => String(at)} columns={COLUMNS} />
      )}
      <Suspense fallback={null}>
        {isOpen && <MappingDialog provider={provider} onClose={() => setOpen(false)} />}
      </Suspense>
    </Panel>
  );
}

const COLUMNS: Column<MappingRule & { at: number }>[] = [
  { name: t.identityProviders.group, cell: ({ group }) => group },
  { name: t.people.systemRole, cell: ({ role }) => role ?? t.none },
  {
    name: t.people.tenantRoles,
    cell: ({ tenants = [] }) =>
      tenants.map(({ name, role }) => t.people.roleIn(role, name)).join(', ') || t.none,
  },
];
