import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { quotaQuery, type TenantQuota } from '../../api/people';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Panel } from '../../ui/panel';
import { SimpleTable } from '../../ui/simple-table';
import { Loaded } from '../../ui/states';
import styles from '../admin.module.css';
import { LIMITS, type LimitName } from './quota';

const QuotaDialog = lazy(() => import('./quota-dialog'));

/** Current usage of the tenant, compared with its limits. */
export function QuotaPanel({ name }: { name: string }) {
  const { client } = useApi();
  const may = useMay();
  const query = useQuery(quotaQuery(client, useTenant(), name));
  const [isOpen, setOpen] = useState(false);
  const names = t.tenants.quota;
  return (
    <Panel
      title={names.title}
      side={
        query.data && may('tenant_create') && <Button onClick={() => setOpen(true)}>{names.change}</Button>
      }
    >
      <Loaded query={query}>{(quota) => <Limits quota={quota} />}</Loaded>
      {isOpen && query.data && (
        <Suspense fallback={null}>
          <QuotaDialog quota={query.data} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Panel>
  );
}

function Limits({ quota }: { quota: TenantQuota }) {
  return (
    <div className={styles.stack}>
      <LimitTable quota={quota} />
      {quota.worker_weight !== null && (
        <p>
          {t.tenants.quota.names.worker_weight}: {t.number(quota.worker_weight)}
        </p>
      )}
    </div>
  );
}

function LimitTable({ quota }: { quota: TenantQuota }) {
  const names = t.tenants.quota;
  return (
    <SimpleTable<LimitName>
      label={names.title}
      rows={LIMITS}
      keyOf={(name) => name}
      columns={[
        { name: names.what, cell: (name) => names.names[name] },
        {
          name: names.used,
          isNumber: true,
          cell: (name) => (quota[name].usage === null ? t.none : t.number(quota[name].usage)),
        },
        { name: names.most, isNumber: true, cell: (name) => <Most {...quota[name]} /> },
        { name: names.share, cell: (name) => <Share {...quota[name]} label={names.names[name]} /> },
      ]}
    />
  );
}

function Most({ limit, own }: { limit: number | null; own: number | null }) {
  const names = t.tenants.quota;
  if (limit === null) return <>{names.noLimit}</>;
  return (
    <>
      {t.number(limit)} <span className={styles.quiet}>({own === null ? names.usual : names.own})</span>
    </>
  );
}

function Share({ limit, usage, label }: { limit: number | null; usage: number | null; label: string }) {
  if (limit === null || usage === null || limit === 0) return <>{t.none}</>;
  return (
    <meter className={styles.meter} aria-label={label} min={0} max={limit} high={limit * 0.9} value={usage} />
  );
}
