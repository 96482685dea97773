import { useState } from 'react';
import type { BlueprintDetail } from '../api/blueprints';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { Field } from '../ui/field';
import { FileDrop } from '../ui/file-drop';
import { FormDialog } from '../ui/form-dialog';

interface IconDialogProps {
  blueprint: Pick<BlueprintDetail, 'id' | 'has_icon'>;
  onClose: () => void;
}

/** Sets or removes the icon. */
export default function IconDialog({ blueprint: { id, has_icon }, onClose }: IconDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const save = useChange(
    ['blueprint', 'blueprints'],
    (client, tenant) =>
      client.upload('setBlueprintIcon', {
        tenant,
        params: { blueprint_id: id },
        content: file ?? new Blob(),
      }),
    onClose,
  );
  return (
    <FormDialog
      title={t.iconDialog.title(id)}
      submit={file || !has_icon ? t.iconDialog.submit : t.iconDialog.remove}
      mutation={save}
      isIncomplete={file === null && !has_icon}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {(errorOf) => (
        <Field label={t.iconDialog.file} hint={t.iconDialog.hint} error={errorOf('icon')}>
          {(ids) => <FileDrop ids={ids} file={file} accept="image/png" onFile={setFile} />}
        </Field>
      )}
    </FormDialog>
  );
}
