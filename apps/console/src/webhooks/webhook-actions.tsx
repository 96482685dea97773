import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useMay, useTenant } from '../api/api-context';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { InlineProblem } from '../ui/states';
import {
  changeWebhook,
  deleteWebhook,
  MANAGES_WEBHOOKS,
  pingWebhook,
  rotateWebhook,
  WEBHOOKS,
  type WebhookDetail,
} from './webhooks';

const WebhookForm = lazy(() => import('./webhook-form'));
const RotateDialog = lazy(() => import('./rotate-dialog'));
const ConfirmDialog = lazy(async () => ({ default: (await import('../ui/confirm-dialog')).ConfirmDialog }));

/** A test, settings, a new secret, enabling, deletion. */
export function WebhookActions({ webhook }: { webhook: WebhookDetail }) {
  const { id, is_enabled: isEnabled } = webhook;
  const may = useMay();
  const tenant = useTenant();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'rotate' | 'delete' | null>(null);
  const close = (): void => setOpen(null);
  const able = useChange([WEBHOOKS], (client) =>
    changeWebhook(client, tenant, id, { is_enabled: !isEnabled }),
  );
  const ping = useChange([WEBHOOKS], (client) => pingWebhook(client, tenant, id));
  const remove = useChange(
    [WEBHOOKS],
    (client) => deleteWebhook(client, tenant, id),
    () => navigate({ to: '/$tenant/webhooks', params: { tenant } }),
  );
  if (!may(MANAGES_WEBHOOKS)) return null;
  return (
    <>
      <InlineProblem error={able.error ?? ping.error} />
      {isEnabled && (
        <Button disabled={ping.isPending} onClick={() => ping.mutate()}>
          {t.webhooks.ping}
        </Button>
      )}
      <Button look={isEnabled ? 'plain' : 'main'} disabled={able.isPending} onClick={() => able.mutate()}>
        {isEnabled ? t.webhooks.disable : t.webhooks.enable}
      </Button>
      <Button onClick={() => setOpen('edit')}>{t.resource.edit}</Button>
      <Button onClick={() => setOpen('rotate')}>{t.webhooks.rotate}</Button>
      <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>
      <Suspense fallback={null}>
        {open === 'edit' && <WebhookForm webhook={webhook} onClose={close} />}
        {open === 'rotate' && (
          <RotateDialog
            kind={WEBHOOKS}
            texts={t.webhooks}
            id={id}
            rotate={(client, overlapS) => rotateWebhook(client, tenant, id, overlapS)}
            onClose={close}
          />
        )}
        {open === 'delete' && (
          <ConfirmDialog
            title={t.webhooks.deleteOf(id)}
            text={t.webhooks.deleteText}
            action={t.webhooks.deleteSubmit}
            mutation={remove}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}
