import {
  catalogResourcesChanged,
  deploymentResourcesChanged,
  eventsAppended,
  executionResourcesChanged,
} from '@baton/contracts';
import { type SubscriptionPart, subscriptionPart } from '@baton/service-runtime';
import type { ChangesHub } from '../changes-hub';

/**
 * Subscriptions to the messages of all services about changes. After a lost connection to the broker, readers are told that they
 * may have missed changes. `wakeEvents` needs no such notice, because event streams poll.
 */
export function onChanges(
  changes: ChangesHub,
  wakeEvents: (executionId: string) => void,
): SubscriptionPart[] {
  const missed = () => changes.lost();
  return [
    subscriptionPart(
      eventsAppended,
      ({ payload: { executionIds, statesOf = [] } }) => {
        executionIds.forEach(wakeEvents);
        changes.moved(executionIds);
        changes.moved(statesOf, true);
      },
      missed,
    ),
    ...[executionResourcesChanged, deploymentResourcesChanged, catalogResourcesChanged].map((message) =>
      subscriptionPart(message, changes.told, missed),
    ),
  ];
}
