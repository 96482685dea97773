import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Check } from '../../ui/field';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import styles from '../admin.module.css';

interface NewSnapshot {
  id: string;
  include_credentials: boolean;
  include_logs: boolean;
  include_events: boolean;
  queue: boolean;
}

const USUAL: NewSnapshot = {
  id: '',
  include_credentials: false,
  include_logs: true,
  include_events: true,
  queue: false,
};

export default function NewSnapshotDialog({ onClose }: { onClose: () => void }) {
  const [snapshot, setSnapshot] = useState(USUAL);
  const set = (part: Partial<NewSnapshot>): void => setSnapshot((before) => ({ ...before, ...part }));
  const create = useChange<NewSnapshot>(
    ['snapshots', 'executions'],
    (client, tenant, { id, ...body }) =>
      client.call('createSnapshot', { tenant, params: { snapshot_id: id }, body }),
    onClose,
  );
  return (
    <FormDialog
      title={t.snapshots.create}
      submit={t.snapshots.create}
      mutation={create}
      isIncomplete={snapshot.id === ''}
      onSubmit={() => create.mutate(snapshot)}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <p className={styles.quiet}>{t.snapshots.createHint}</p>
          <TextField
            label={t.snapshots.id}
            error={errorOf('snapshot_id')}
            isRequired
            value={snapshot.id}
            onChange={(id) => set({ id })}
          />
          <Check
            label={t.snapshots.credentials}
            isChecked={snapshot.include_credentials}
            onChange={(include_credentials) => set({ include_credentials })}
          />
          <Check
            label={t.snapshots.events}
            isChecked={snapshot.include_events}
            onChange={(include_events) => set({ include_events })}
          />
          <Check
            label={t.snapshots.logs}
            isChecked={snapshot.include_logs}
            onChange={(include_logs) => set({ include_logs })}
          />
          <Check label={t.snapshots.queue} isChecked={snapshot.queue} onChange={(queue) => set({ queue })} />
        </>
      )}
    </FormDialog>
  );
}
