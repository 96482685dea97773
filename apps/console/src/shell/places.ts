/** Places of the console: entries of the navigation, of the keys after `g`, and of the command palette. */
import {
  CalendarClock,
  Filter,
  Gauge,
  KeyRound,
  Layers,
  ListChecks,
  type LucideIcon,
  MapPin,
  Package,
  Plug,
  ScrollText,
  Webhook,
  Zap,
} from 'lucide-react';
import { ADMIN_PLACES } from '../admin/admin-places';
import { t } from '../text/text';

interface Place<To> {
  to: To;
  Icon: LucideIcon;
  text: string;
  /** The key after `g`. */
  key?: string;
  /** Without this permission the place is hidden: its list would be refused. */
  permission?: string;
}

interface PlaceGroup<To> {
  text: string;
  places: readonly Place<To>[];
  /** Collapsed until the user opens it, or visits one of its places. */
  isFolded?: boolean;
}

const names = t.nav;
const GROUPS = [
  {
    text: names.groups.work,
    places: [
      { to: '/$tenant', Icon: Gauge, text: t.overview.title, key: 'o' },
      {
        to: '/$tenant/deployments',
        Icon: Layers,
        text: names.deployments,
        key: 'd',
        permission: 'deployment_list',
      },
      {
        to: '/$tenant/executions',
        Icon: ListChecks,
        text: names.executions,
        key: 'e',
        permission: 'execution_list',
      },
      {
        to: '/$tenant/events',
        Icon: ScrollText,
        text: t.eventList.title,
        key: 'v',
        permission: 'event_list',
      },
    ],
  },
  {
    text: names.groups.catalog,
    places: [
      {
        to: '/$tenant/blueprints',
        Icon: Package,
        text: names.blueprints,
        key: 'b',
        permission: 'blueprint_list',
      },
      { to: '/$tenant/plugins', Icon: Plug, text: names.plugins, key: 'p', permission: 'plugin_list' },
    ],
  },
  {
    text: names.groups.resources,
    places: [
      { to: '/$tenant/secrets', Icon: KeyRound, text: names.secrets, key: 's', permission: 'secret_list' },
      { to: '/$tenant/sites', Icon: MapPin, text: names.sites, permission: 'site_list' },
      { to: '/$tenant/filters', Icon: Filter, text: names.filters, key: 'f', permission: 'filter_list' },
      {
        to: '/$tenant/schedules',
        Icon: CalendarClock,
        text: names.schedules,
        key: 'c',
        permission: 'execution_schedule_list',
      },
      {
        to: '/$tenant/triggers',
        Icon: Zap,
        text: t.triggers.title,
        permission: 'execution_schedule_list',
      },
      { to: '/$tenant/webhooks', Icon: Webhook, text: t.webhooks.title, permission: 'administrators' },
    ],
  },
  { text: names.groups.administration, places: ADMIN_PLACES, isFolded: true },
] as const satisfies readonly PlaceGroup<string>[];

export type PlacePath = (typeof GROUPS)[number]['places'][number]['to'];
export const PLACE_GROUPS: readonly PlaceGroup<PlacePath>[] = GROUPS;

/** Returns the groups with the places that the user may see; empty groups are left out. */
export const placesFor = (may: (permission: string) => boolean): PlaceGroup<PlacePath>[] =>
  PLACE_GROUPS.map((group) => ({
    ...group,
    places: group.places.filter(({ permission }) => !permission || may(permission)),
  })).filter(({ places }) => places.length > 0);

/** Paths by the key after `g`. */
export const PLACE_KEYS: Readonly<Record<string, PlacePath>> = Object.fromEntries(
  PLACE_GROUPS.flatMap(({ places }) => places.flatMap(({ key, to }) => (key ? [[key, to]] : []))),
);

/**
 * Whether an address lies in the place. The overview is an exception: its path is the prefix of all others, so it matches only
 * itself.
 */
export function isIn(path: string, to: string, tenant: string): boolean {
  const place = to.replace('$tenant', tenant);
  return path.replace(/\/$/, '') === place || (to !== '/$tenant' && path.startsWith(`${place}/`));
}
