import { useState } from 'react';
import { PEOPLE, type TenantQuota } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import styles from '../admin.module.css';
import { QUOTA_FIELDS, type QuotaField, quotaChange, quotaFault, quotaTexts } from './quota';

export default function QuotaDialog({ quota, onClose }: { quota: TenantQuota; onClose: () => void }) {
  const [before] = useState(() => quotaTexts(quota));
  const [texts, setTexts] = useState(before);
  const names = t.tenants.quota;
  const change = useChange<Partial<Record<QuotaField, number | null>>>(
    PEOPLE,
    (client, tenant, body) =>
      client.call('setTenantQuota', { tenant, params: { tenant_name: quota.tenant_name }, body }),
    onClose,
  );
  const faultOf = (name: QuotaField): string | null => {
    const fault = quotaFault(name, texts[name]);
    return fault && names.errors[fault];
  };
  const next = quotaChange(before, texts);
  return (
    <FormDialog
      title={names.changeTitle(quota.tenant_name)}
      submit={names.change}
      mutation={change}
      isIncomplete={Object.keys(next).length === 0 || QUOTA_FIELDS.some(faultOf)}
      onSubmit={() => change.mutate(next)}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <p className={styles.quiet}>{names.hint}</p>
          {QUOTA_FIELDS.map((name) => (
            <TextField
              key={name}
              label={names.names[name]}
              inputMode={name === 'worker_weight' ? 'decimal' : 'numeric'}
              error={faultOf(name) ?? errorOf(name)}
              value={texts[name]}
              onChange={(text) => setTexts((now) => ({ ...now, [name]: text }))}
            />
          ))}
        </>
      )}
    </FormDialog>
  );
}
