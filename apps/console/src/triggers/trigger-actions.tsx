import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useMay, useTenant } from '../api/api-context';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { InlineProblem } from '../ui/states';
import {
  changeTrigger,
  deleteTrigger,
  MAKES_TRIGGERS,
  rotateTrigger,
  TRIGGERS,
  type TriggerDetail,
} from './triggers';

const TriggerForm = lazy(() => import('./trigger-form'));
const RotateDialog = lazy(() => import('../webhooks/rotate-dialog'));
const ConfirmDialog = lazy(async () => ({ default: (await import('../ui/confirm-dialog')).ConfirmDialog }));

/** `isOwn`: the user made the trigger. A manager of the tenant enables, disables and deletes those of others. */
export function TriggerActions({ trigger, isOwn }: { trigger: TriggerDetail; isOwn: boolean }) {
  const { id, is_enabled: isEnabled } = trigger;
  const may = useMay();
  const tenant = useTenant();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'rotate' | 'delete' | null>(null);
  const close = (): void => setOpen(null);
  const able = useChange([TRIGGERS], (client) =>
    changeTrigger(client, tenant, id, { is_enabled: !isEnabled }),
  );
  const remove = useChange(
    [TRIGGERS],
    (client) => deleteTrigger(client, tenant, id),
    () => navigate({ to: '/$tenant/triggers', params: { tenant } }),
  );
  if (!may(MAKES_TRIGGERS)) return null;
  return (
    <>
      <InlineProblem error={able.error} />
      <Button disabled={able.isPending} onClick={() => able.mutate()}>
        {isEnabled ? t.triggers.disable : t.triggers.enable}
      </Button>
      {isOwn && (
        <>
          <Button onClick={() => setOpen('edit')}>{t.resource.edit}</Button>
          <Button onClick={() => setOpen('rotate')}>{t.triggers.rotate}</Button>
        </>
      )}
      <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>
      <Suspense fallback={null}>
        {open === 'edit' && <TriggerForm trigger={trigger} onClose={close} />}
        {open === 'rotate' && (
          <RotateDialog
            kind={TRIGGERS}
            texts={t.triggers}
            id={id}
            rotate={(client, overlapS) => rotateTrigger(client, tenant, id, overlapS)}
            onClose={close}
          />
        )}
        {open === 'delete' && (
          <ConfirmDialog
            title={t.triggers.deleteOf(id)}
            text={t.triggers.deleteText}
            action={t.triggers.deleteSubmit}
            mutation={remove}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}
