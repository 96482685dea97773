import { lazy, Suspense, useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { InlineProblem } from '../../ui/states';
import { changeProvider, type IdentityProvider, PROVIDERS } from './identity-providers';
import type { ProviderQuestion } from './provider-dialogs';

const ProviderForm = lazy(() => import('./provider-form'));
const ProviderDialogs = lazy(() => import('./provider-dialogs'));

export function ProviderActions({ provider }: { provider: IdentityProvider }) {
  const [open, setOpen] = useState<'edit' | ProviderQuestion | null>(null);
  const enable = useChange([PROVIDERS], (client, tenant) =>
    changeProvider(client, tenant, provider.id, { is_enabled: true }),
  );
  const texts = t.identityProviders;
  const close = (): void => setOpen(null);
  return (
    <>
      <InlineProblem error={enable.error} />
      {provider.is_enabled ? (
        <Button onClick={() => setOpen('disable')}>{texts.disable}</Button>
      ) : (
        <Button look="main" disabled={enable.isPending} onClick={() => enable.mutate()}>
          {texts.enable}
        </Button>
      )}
      <Button onClick={() => setOpen('user')}>{texts.addUser}</Button>
      <Button onClick={() => setOpen('edit')}>{t.resource.edit}</Button>
      <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>
      <Suspense fallback={null}>
        {open === 'edit' && <ProviderForm provider={provider} onClose={close} />}
        {open !== null && open !== 'edit' && (
          <ProviderDialogs provider={provider} asked={open} onClose={close} />
        )}
      </Suspense>
    </>
  );
}
