import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';

/** Revokes a token, after a question. */
export default function RevokeDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const revoke = useChange(
    ['tokens'],
    (client, tenant) => client.call('deleteToken', { tenant, params: { token_id: id } }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.tokens.revokeTitle(id)}
      text={t.tokens.revokeText}
      action={t.tokens.revoke}
      mutation={revoke}
      onClose={onClose}
    />
  );
}
