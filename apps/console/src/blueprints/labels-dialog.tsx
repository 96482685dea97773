import { useState } from 'react';
import type { BlueprintDetail } from '../api/blueprints';
import { useChange } from '../api/use-change';
import { type LabelDraft, labelErrors, labelsToSend } from '../labels/label-drafts';
import { LabelsEditor } from '../labels/labels-editor';
import { t } from '../text/text';
import { FormDialog } from '../ui/form-dialog';

interface LabelsDialogProps {
  id: string;
  labels: BlueprintDetail['labels'];
  onClose: () => void;
}

export default function LabelsDialog({ id, labels, onClose }: LabelsDialogProps) {
  const [drafts, setDrafts] = useState<LabelDraft[]>(() => labels.map(({ key, value }) => ({ key, value })));
  const [isTried, setTried] = useState(false);
  const wrong = labelErrors(drafts);
  const save = useChange<void>(
    ['blueprint', 'blueprints'],
    (client, tenant) =>
      client.call('patchBlueprint', {
        tenant,
        params: { blueprint_id: id },
        body: { labels: labelsToSend(drafts) },
      }),
    onClose,
  );
  const submit = (): void => {
    setTried(true);
    if (Object.keys(wrong).length === 0) save.mutate();
  };
  return (
    <FormDialog
      title={t.labelsDialog.title(id)}
      submit={t.labelsDialog.submit}
      mutation={save}
      onSubmit={submit}
      onClose={onClose}
    >
      {() => (
        <LabelsEditor of="blueprints" drafts={drafts} errors={isTried ? wrong : {}} onChange={setDrafts} />
      )}
    </FormDialog>
  );
}
