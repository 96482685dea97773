import type { ListQuery } from '@baton/contracts';
import { equalsAny } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { liveStretches } from './events-by-chunk';

/** Filters whose events lie in a few deployments, and filters that are faster by their own indexes. */
const PLACED = ['node_instance_id', 'blueprint_id'];
const QUICKER = ['execution_id', 'deployment_id', 'execution_group_id'];

/**
 * Returns the FROM item with the events `v` of a list by node instance or blueprint: the events of the deployments in
 * `event_places` (migrations/0150_event_places.sql), and the events of other deployments in time ranges that it does not cover
 * yet. Null for other lists.
 */
export function placedEvents({ filters }: ListQuery): RawBuilder<unknown> | null {
  const field = PLACED.find((name) => (filters[name]?.length ?? 0) > 0);
  if (!field || QUICKER.some((name) => filters[name])) return null;
  const isOne = (events: string): RawBuilder<unknown> =>
    equalsAny(sql.ref(`${events}.${field}`), filters[field]!);
  // Has the collation of the column of the events: with another collation their index cannot be used.
  const ids = sql`(select p.ids from places p)`;
  // OFFSET 0: each time range is searched in the index of times, whatever number of ranges the planner expects.
  return sql`(with ${liveStretches('event_counts')}, places as materialized (
      select coalesce(array_agg(distinct p.deployment_id collate "default"), '{}') as ids from event_places p
      where p.kind = ${field} and ${equalsAny(sql`p.value`, filters[field]!)}
    )
    select e.* from events e where e.deployment_id = any(${ids}::text[]) and ${isOne('e')}
    union all
    select e.* from events e where e.deployment_id is null and '' = any(${ids}::text[]) and ${isOne('e')}
    union all
    select e.* from live l cross join lateral (
      select * from events r where r.created_at >= l.from_at and r.created_at < l.to_at and ${isOne('r')} offset 0) e
    where l.from_at < l.to_at and coalesce(e.deployment_id, '') <> all(${ids}::text[])) v`;
}
