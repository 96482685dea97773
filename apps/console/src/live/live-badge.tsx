import { useQueryClient } from '@tanstack/react-query';
import { Pause, Play, RefreshCw } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useApi } from '../api/api-context';
import { SESSION_KEY } from '../api/session';
import { t } from '../text/text';
import { Button } from '../ui/button';
import type { LiveView } from './live';
import styles from './live-badge.module.css';

function useLive(): LiveView {
  const { live } = useApi();
  return useSyncExternalStore(live.subscribe, live.view);
}

/** Whether screens of the tenant may read data: its stream of changes has begun, or the wait for it has timed out. */
export const useHasBegun = (tenant: string): boolean => useLive().begun === tenant;

/** Returns the poll interval of lists in ms; false while the stream of changes is available. */
export function usePollMs(): number | false {
  return useLive().state === 'off' ? 10_000 : false;
}

/** Shows the state of the stream of changes, with a button to pause it. */
export function LiveBadge() {
  const { live } = useApi();
  const { state, waiting } = useLive();
  const cache = useQueryClient();
  const readAgain = (): void =>
    void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  const isPaused = state === 'paused';
  return (
    <div className={styles.live} title={t.live.hint[state]}>
      <span
        className={styles.state}
        data-state={state}
        role="status"
        aria-label={`${t.live.label}: ${t.live[state]}`}
      >
        <span className={styles.dot} aria-hidden="true" />
        <span className={styles.word}>{t.live[state]}</span>
      </span>
      {isPaused && waiting > 0 && <span className={styles.waiting}>{t.live.waiting(waiting)}</span>}
      <Button look="icon" aria-label={t.refresh} title={t.refresh} onClick={readAgain}>
        <RefreshCw size={16} aria-hidden="true" />
      </Button>
      {state !== 'off' && (
        <Button
          look="icon"
          aria-label={isPaused ? t.live.resume : t.live.pause}
          title={isPaused ? t.live.resume : t.live.pause}
          onClick={isPaused ? live.resume : live.pause}
        >
          {isPaused ? <Play size={16} aria-hidden="true" /> : <Pause size={16} aria-hidden="true" />}
        </Button>
      )}
    </div>
  );
}
