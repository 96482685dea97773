import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/api-context';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Panel } from '../../ui/panel';
import { type Column, SimpleTable } from '../../ui/simple-table';
import styles from '../admin.module.css';
import type { ServiceAccount, TrustRule } from './service-accounts';

const TrustDialog = lazy(() => import('./trust-dialog'));

/** Jobs of other systems that may be the service account, without a stored secret. */
export function TrustPanel({ account }: { account: ServiceAccount }) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const texts = t.serviceAccounts;
  const rows = account.trust.map((rule, at) => ({ ...rule, at }));
  return (
    <Panel
      title={texts.trustTitle}
      side={may('user_update') && <Button onClick={() => setOpen(true)}>{texts.editTrust}</Button>}
    >
      {rows.length === 0 ? (
        <p className={styles.quiet}>{texts.noTrust}</p>
      ) : (
        <SimpleTable label={texts.trustTitle} rows={rows} keyOf={({ at }) => String(at)} columns={COLUMNS} />
      )}
      <Suspense fallback={null}>
        {isOpen && <TrustDialog account={account} onClose={() => setOpen(false)} />}
      </Suspense>
    </Panel>
  );
}

const COLUMNS: Column<TrustRule & { at: number }>[] = [
  { name: t.serviceAccounts.issuer, cell: ({ issuer }) => issuer },
  { name: t.serviceAccounts.audience, cell: ({ audience }) => audience },
  { name: t.serviceAccounts.subject, cell: ({ subject }) => <code>{subject}</code> },
  {
    name: t.serviceAccounts.certificate,
    cell: ({ ca_certificate: pem }) => (pem ? t.serviceAccounts.ownCertificate : t.none),
  },
];
