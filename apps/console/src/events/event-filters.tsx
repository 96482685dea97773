import { systemClock } from '@baton/kernel';
import { Pause, Play } from 'lucide-react';
import { useCallback } from 'react';
import { LEVELS } from '../execution/execution-search';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { BarSelect, Check } from '../ui/field';
import { InstantField } from '../ui/instant-field';
import { SearchBox } from '../ui/search-box';
import bar from '../ui/toolbar.module.css';
import { useAddress } from '../ui/use-address';
import { useIsNarrow } from '../ui/use-is-narrow';
import { EVENT_TYPES, type EventSearch, rangeOf, rangeText } from './event-search';
import styles from './events.module.css';

/** All filters of the list of events, kept in the address. On a small screen the less used filters are collapsed. */
export function EventFilters() {
  const { search, change } = useAddress<EventSearch>();
  const isNarrow = useIsNarrow();
  const setMessage = useCallback((text: string) => change({ message: text || undefined }), [change]);
  const { deployment_id, execution_id, type, _range } = search;
  const more = <MoreFilters search={search} change={change} />;
  return (
    <>
      <SearchBox label={t.eventList.filters.message} value={search.message ?? ''} onChange={setMessage} />
      <BarSelect
        label={t.log.level}
        value={search.level ?? ''}
        options={[['', t.log.levels.all!], ...LEVELS.map((one) => [one, t.log.levels[one]!] as const)]}
        onChange={(value) => change({ level: LEVELS.find((one) => one === value) })}
      />
      <Check
        label={t.log.failedOnly}
        isChecked={search.failed === true}
        onChange={(isOn) => change({ failed: isOn || undefined })}
      />
      {isNarrow ? (
        <details className={styles.more} open={Boolean(deployment_id || execution_id || type || _range)}>
          <summary>{t.eventList.filters.more}</summary>
          <div className={bar.bar}>{more}</div>
        </details>
      ) : (
        more
      )}
    </>
  );
}

interface FilterProps {
  search: EventSearch;
  change: (next: Partial<EventSearch>) => void;
}

function MoreFilters({ search, change }: FilterProps) {
  const setDeployment = useCallback((text: string) => change({ deployment_id: text || undefined }), [change]);
  const setExecution = useCallback((text: string) => change({ execution_id: text || undefined }), [change]);
  const names = t.eventList.filters;
  return (
    <>
      <SearchBox label={names.deployment} value={search.deployment_id ?? ''} onChange={setDeployment} />
      <SearchBox label={names.execution} value={search.execution_id ?? ''} onChange={setExecution} />
      <BarSelect
        label={names.type}
        value={search.type ?? ''}
        options={[['', names.anyType], ...EVENT_TYPES.map((one) => [one, names.types[one]!] as const)]}
        onChange={(value) => change({ type: EVENT_TYPES.find((one) => one === value) })}
      />
      <RangeFields search={search} change={change} />
    </>
  );
}

/** Start and end of the time range. A range with an end freezes the list: no new events appear in it. */
function RangeFields({ search, change }: FilterProps) {
  const range = rangeOf(search._range);
  const set = (next: object): void => change({ _range: rangeText({ ...range, ...next }) });
  return (
    <>
      <InstantField label={t.eventList.filters.from} value={range.from} onChange={(from) => set({ from })} />
      <InstantField label={t.eventList.filters.to} value={range.to} onChange={(to) => set({ to })} />
      <Button onClick={() => set({ to: range.to ? undefined : new Date(systemClock.now()).toISOString() })}>
        {range.to ? <Play size={15} aria-hidden="true" /> : <Pause size={15} aria-hidden="true" />}
        {range.to ? t.eventList.follow : t.eventList.hold}
      </Button>
    </>
  );
}
