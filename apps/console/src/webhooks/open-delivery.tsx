import { lazy, Suspense } from 'react';
import { useAddress } from '../ui/use-address';
import type { DeliverySearch } from './webhook-search';
import type { WebhookDetail } from './webhooks';

const DeliveryDialog = lazy(() => import('./delivery-dialog'));

/** The delivery that the address names, in a dialog. */
export function OpenDelivery({ webhook }: { webhook: Pick<WebhookDetail, 'id' | 'is_enabled'> }) {
  const { search, change } = useAddress<DeliverySearch>();
  if (!search.delivery) return null;
  return (
    <Suspense fallback={null}>
      <DeliveryDialog
        webhook={webhook}
        id={search.delivery}
        onClose={() => change({ delivery: undefined })}
      />
    </Suspense>
  );
}
