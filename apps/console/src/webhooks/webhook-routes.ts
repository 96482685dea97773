/** Addresses of webhooks and triggers. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { tenantRoute } from '../tenant-route';
import { readDeliverySearch, readEnabledSearch } from './webhook-search';

const parent = { getParentRoute: () => tenantRoute };

const webhooksRoute = createRoute({
  ...parent,
  path: '/webhooks',
  validateSearch: readEnabledSearch,
  component: lazyRouteComponent(() => import('./webhooks-screen'), 'WebhooksScreen'),
});
const webhookRoute = createRoute({
  ...parent,
  path: '/webhooks/$id',
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(() => import('./webhook-screen'), 'WebhookScreen'),
});
const deliveriesRoute = createRoute({
  ...parent,
  path: '/webhooks/$id/deliveries',
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(() => import('./deliveries-screen'), 'DeliveriesScreen'),
});
const triggersRoute = createRoute({
  ...parent,
  path: '/triggers',
  validateSearch: readEnabledSearch,
  component: lazyRouteComponent(() => import('../triggers/triggers-screen'), 'TriggersScreen'),
});
const triggerRoute = createRoute({
  ...parent,
  path: '/triggers/$id',
  component: lazyRouteComponent(() => import('../triggers/trigger-screen'), 'TriggerScreen'),
});

export const webhookRoutes = [
  webhooksRoute,
  webhookRoute,
  deliveriesRoute,
  triggersRoute,
  triggerRoute,
] as const;
