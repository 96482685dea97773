/** Uploads a license file, or removes the license. */
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { FileField } from '../../ui/file-field';
import { FormDialog } from '../../ui/form-dialog';
import styles from '../admin.module.css';

interface DialogProps {
  asked: 'upload' | 'remove';
  hasLicense: boolean;
  onClose: () => void;
}

export default function LicenseDialog({ asked, hasLicense, onClose }: DialogProps) {
  if (asked === 'upload') return <Upload hasLicense={hasLicense} onClose={onClose} />;
  return <Remove onClose={onClose} />;
}

function Upload({ hasLicense, onClose }: Omit<DialogProps, 'asked'>) {
  const [file, setFile] = useState<File | null>(null);
  const upload = useChange<File>(
    ['license'],
    (client, tenant, content) => client.upload('putLicense', { tenant, content, contentType: 'text/plain' }),
    onClose,
  );
  return (
    <FormDialog
      title={t.license.upload}
      submit={t.license.upload}
      mutation={upload}
      isIncomplete={file === null}
      onSubmit={() => file && upload.mutate(file)}
      onClose={onClose}
    >
      <FileField label={t.license.file} onChange={([chosen]) => setFile(chosen ?? null)} />
      {hasLicense && <p className={styles.warning}>{t.license.replaces}</p>}
    </FormDialog>
  );
}

function Remove({ onClose }: { onClose: () => void }) {
  const remove = useChange(
    ['license'],
    (client, tenant) => client.call('deleteLicense', { tenant }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.license.removeTitle}
      text={t.license.removeText}
      action={t.license.remove}
      mutation={remove}
      onClose={onClose}
    />
  );
}
