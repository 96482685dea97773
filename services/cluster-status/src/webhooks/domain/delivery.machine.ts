import { defineMachine } from '@baton/kernel';

export type DeliveryState = 'pending' | 'delivered' | 'failed';

/**
 * A delivery on its way to an endpoint. Both ends are left by a redelivery on request only, which is not an event of the machine:
 * it makes a new start of the same delivery.
 */
export const deliveryMachine = defineMachine<DeliveryState, 'accepted' | 'retried' | 'givenUp'>({
  name: 'webhook delivery',
  initial: 'pending',
  terminal: ['delivered', 'failed'],
  on: {
    pending: { accepted: 'delivered', retried: 'pending', givenUp: 'failed' },
    delivered: {},
    failed: {},
  },
});
