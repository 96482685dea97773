/** Makes a webhook (`webhook` is null) and shows its secret once, or changes the settings of one. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../api/api-context';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { FormDialog } from '../ui/form-dialog';
import { TextField } from '../ui/inputs';
import { OnceDialog } from '../ui/once-dialog';
import { useChecked } from '../ui/use-checked';
import { bodyOf, entryOf, faultsOf, NEW_WEBHOOK, type WebhookEntry } from './webhook-entry';
import { WebhookFields } from './webhook-fields';
import { changeWebhook, createWebhook, WEBHOOKS, type WebhookDetail } from './webhooks';

interface WebhookFormProps {
  webhook: WebhookDetail | null;
  onClose: () => void;
}

export default function WebhookForm({ webhook, onClose }: WebhookFormProps) {
  return webhook ? <EditForm webhook={webhook} onClose={onClose} /> : <NewForm onClose={onClose} />;
}

function EditForm({ webhook, onClose }: { webhook: WebhookDetail; onClose: () => void }) {
  const [entry, setEntry] = useState<WebhookEntry>(() => entryOf(webhook));
  const save = useChange(
    [WEBHOOKS],
    (client, tenant) => changeWebhook(client, tenant, webhook.id, bodyOf(entry)),
    onClose,
  );
  const checked = useChecked(
    () => faultsOf(entry),
    () => save.mutate(),
  );
  return (
    <FormDialog
      title={t.webhooks.form.editOf(webhook.id)}
      submit={t.resource.save}
      mutation={save}
      onClose={onClose}
      {...checked}
      isIncomplete={entry.url.trim() === ''}
    >
      {(errorOf) => (
        <WebhookFields entry={entry} stored={webhook.header_names} onChange={setEntry} errorOf={errorOf} />
      )}
    </FormDialog>
  );
}

function NewForm({ onClose }: { onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const [id, setId] = useState('');
  const [entry, setEntry] = useState<WebhookEntry>(NEW_WEBHOOK);
  const create = useChange([WEBHOOKS], (client, ofTenant) =>
    createWebhook(client, ofTenant, id.trim(), bodyOf(entry)),
  );
  const checked = useChecked(
    () => faultsOf(entry),
    () => create.mutate(),
  );
  if (create.data) {
    const made = create.data;
    const close = (): void => {
      onClose();
      void navigate({ to: '/$tenant/webhooks/$id', params: { tenant, id: made.id } });
    };
    return (
      <OnceDialog
        title={t.webhooks.made(made.id)}
        texts={[[t.webhooks.secret, made.secret]]}
        hint={t.webhooks.madeHint}
        mutation={create}
        onClose={close}
      />
    );
  }
  return (
    <FormDialog
      title={t.webhooks.create}
      submit={t.webhooks.submit}
      mutation={create}
      onClose={onClose}
      {...checked}
      isIncomplete={id.trim() === '' || entry.url.trim() === ''}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.webhooks.form.id}
            hint={t.webhooks.form.idHint}
            value={id}
            onChange={setId}
            error={errorOf('webhook_id')}
            isRequired
          />
          <WebhookFields entry={entry} stored={[]} onChange={setEntry} errorOf={errorOf} />
        </>
      )}
    </FormDialog>
  );
}
