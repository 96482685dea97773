import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FileField } from '../../ui/file-field';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';

export default function UploadDialog({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const upload = useChange<File>(
    ['snapshots'],
    (client, tenant, content) =>
      client.upload('uploadSnapshot', { tenant, params: { snapshot_id: id }, content }),
    onClose,
  );
  return (
    <FormDialog
      title={t.snapshots.uploadTitle}
      submit={t.snapshots.upload}
      mutation={upload}
      isIncomplete={id === '' || file === null}
      onSubmit={() => file && upload.mutate(file)}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <FileField
            label={t.snapshots.file}
            accept=".zip"
            onChange={([chosen]) => {
              setFile(chosen ?? null);
              if (id === '' && chosen) setId(chosen.name.replace(/\.zip$/i, ''));
            }}
          />
          <TextField
            label={t.snapshots.id}
            error={errorOf('snapshot_id')}
            isRequired
            value={id}
            onChange={setId}
          />
        </>
      )}
    </FormDialog>
  );
}
