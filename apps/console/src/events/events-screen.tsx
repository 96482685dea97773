/**
 * Events and log lines of all executions, newest first. The manager applies the filters. New events appear unless the list is
 * frozen.
 */
import { systemClock } from '@baton/kernel';
import { lazy, Suspense, type UIEvent, useMemo, useState } from 'react';
import { useTenant } from '../api/api-context';
import { eventsBefore, liveEvents } from '../api/events';
import { t } from '../text/text';
import { ListScreen } from '../ui/list-screen';
import { Empty } from '../ui/states';
import bar from '../ui/toolbar.module.css';
import { useAddress } from '../ui/use-address';
import { eventColumns } from './event-columns';
import { EventFilters } from './event-filters';
import { eventKey } from './event-key';
import { type EventSearch, eventQueryOf, rangeOf } from './event-search';
import styles from './events.module.css';

const EventDialog = lazy(() => import('./event-dialog'));

/** The list is live while it is scrolled to within this distance of its top. */
const NEAR_TOP_PX = 20;

export function EventsScreen() {
  const tenant = useTenant();
  const { search, change } = useAddress<EventSearch>();
  const hasEnd = rangeOf(search._range).to !== undefined;
  // Rows must not move while somebody reads them: once the user scrolls down, the list ends at that moment.
  const [leftTopAt, setLeftTopAt] = useState<string | null>(null);
  const isLive = !hasEnd && leftTopAt === null;
  const list = useMemo(
    () => (isLive ? liveEvents : eventsBefore(hasEnd ? null : leftTopAt)),
    [isLive, hasEnd, leftTopAt],
  );
  const follow = ({ target }: UIEvent): void => {
    if (!(target instanceof HTMLElement) || target.dataset.rows === undefined) return;
    const isNear = target.scrollTop < NEAR_TOP_PX;
    setLeftTopAt((before) => (isNear ? null : (before ?? new Date(systemClock.now()).toISOString())));
  };
  return (
    <div className={styles.whole} onScrollCapture={follow}>
      <ListScreen
        name={t.eventList.title}
        label={t.eventList.title}
        list={list}
        columns={eventColumns(tenant)}
        keyOf={eventKey}
        count={t.eventList.count}
        sort={NEWEST_FIRST}
        queryOf={queryOf}
        filters={<EventFilters />}
        side={
          leftTopAt !== null &&
          !hasEnd && (
            <span className={bar.note} role="status">
              {t.eventList.heldBelow}
            </span>
          )
        }
        empty={<Empty title={t.eventList.empty} hint={t.eventList.emptyHint} />}
        isLive={isLive}
      />
      {search.event && (
        <Suspense fallback={null}>
          <EventDialog eventKey={search.event} onClose={() => change({ event: undefined })} />
        </Suspense>
      )}
    </div>
  );
}

const NEWEST_FIRST = ['-timestamp'];
const queryOf = (search: Record<string, unknown>) => eventQueryOf(search as EventSearch);
