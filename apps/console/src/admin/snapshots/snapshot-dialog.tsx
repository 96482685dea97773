/** Dialogs for one snapshot: restore, delete. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { Check } from '../../ui/field';
import styles from '../admin.module.css';

export type SnapshotQuestion = { do: 'restore' | 'delete'; id: string };

interface DialogProps {
  question: SnapshotQuestion;
  onClose: () => void;
}

export default function SnapshotDialog({ question: { do: what, id }, onClose }: DialogProps) {
  return what === 'restore' ? (
    <RestoreDialog id={id} onClose={onClose} />
  ) : (
    <DeleteDialog id={id} onClose={onClose} />
  );
}

/** Restores a snapshot. A dry run is the default: it changes nothing and needs no typed confirmation. */
function RestoreDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const [isDryRun, setDryRun] = useState(true);
  const [isForced, setForced] = useState(false);
  const restore = useChange(
    ['snapshots', 'executions'],
    (client, ofTenant) =>
      client.call('restoreSnapshot', {
        tenant: ofTenant,
        params: { snapshot_id: id },
        body: { force: isForced, dry_run: isDryRun },
      }),
    (execution) => {
      onClose();
      if (execution.id)
        void navigate({ to: '/$tenant/executions/$id', params: { tenant, id: execution.id } });
    },
  );
  return (
    <ConfirmDialog
      title={t.snapshots.restoreTitle(id)}
      action={isDryRun ? t.snapshots.rehearse : t.snapshots.restoreStart}
      mutation={restore}
      typed={isDryRun ? undefined : id}
      isDanger={!isDryRun}
      onClose={onClose}
    >
      {!isDryRun && <p className={styles.warning}>{t.snapshots.restoreText}</p>}
      <Check label={t.snapshots.dryRun} isChecked={isDryRun} onChange={setDryRun} />
      <Check label={t.snapshots.force} isChecked={isForced} onChange={setForced} />
    </ConfirmDialog>
  );
}

function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const remove = useChange(
    ['snapshots'],
    (client, tenant) => client.call('deleteSnapshot', { tenant, params: { snapshot_id: id } }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.snapshots.deleteTitle(id)}
      text={t.snapshots.deleteText}
      action={t.snapshots.delete}
      mutation={remove}
      onClose={onClose}
    />
  );
}
