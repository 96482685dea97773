import { useState } from 'react';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { ConfirmDialog } from '../ui/confirm-dialog';
import { type Visibility, VisibilityField } from '../ui/visibility';

interface WidenDialogProps {
  id: string;
  visibility: Visibility;
  onClose: () => void;
}

export default function WidenDialog({ id, visibility, onClose }: WidenDialogProps) {
  const [wanted, setWanted] = useState(visibility);
  const widen = useChange(
    ['blueprint', 'blueprints'],
    (client, tenant) =>
      client.call('setBlueprintVisibility', {
        tenant,
        params: { blueprint_id: id },
        body: { visibility: wanted as 'tenant' | 'global' },
      }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.widen.title(id)}
      text={t.widen.text}
      action={t.widen.action}
      mutation={widen}
      isBlocked={wanted === visibility}
      onClose={onClose}
    >
      <VisibilityField value={wanted} atLeast={visibility} onChange={setWanted} />
    </ConfirmDialog>
  );
}
