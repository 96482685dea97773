/** Search parameters of the screens of webhooks and triggers. Part of the shell's bundle, so this file stays small. */
import { choicesOf, textOf } from '../search-params';

const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
const FLAGS = ['true', 'false'] as const;

/** Of a list whose rows are enabled or disabled. */
export interface EnabledSearch {
  _search?: string;
  is_enabled?: (typeof FLAGS)[number][];
}

export const readEnabledSearch = (search: Record<string, unknown>): EnabledSearch => ({
  _search: textOf(search._search),
  is_enabled: choicesOf(search.is_enabled, FLAGS),
});

export interface DeliverySearch {
  state?: (typeof DELIVERY_STATES)[number][];
  event?: string;
  /** Id of the delivery that is open. */
  delivery?: string;
}

export const readDeliverySearch = (search: Record<string, unknown>): DeliverySearch => ({
  state: choicesOf(search.state, DELIVERY_STATES),
  event: textOf(search.event),
  delivery: textOf(search.delivery),
});

/** Parameters of the API: the open delivery is no filter. */
export const deliveryQueryOf = ({ delivery, ...query }: Record<string, unknown>): Record<string, string> =>
  query as Record<string, string>;

export { DELIVERY_STATES };
