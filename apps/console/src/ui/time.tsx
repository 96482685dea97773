import { systemClock } from '@baton/kernel';
import { useEffect, useState } from 'react';
import { useSettings } from '../settings/settings';
import { clockText, durationText, instantText } from '../text/format';
import { t } from '../text/text';

/** Shows an instant in the selected time zone. The tooltip contains the original text of the API. */
export function Time({ at, isClock = false }: { at: string | null | undefined; isClock?: boolean }) {
  const { zone } = useSettings();
  if (!at) return <>{t.none}</>;
  return (
    <time dateTime={at} title={at}>
      {isClock ? clockText(at, zone) : instantText(at, zone)}
    </time>
  );
}

/** Returns the current time, updated every second while `isRunning`. */
export function useNow(isRunning: boolean): number {
  const [nowMs, setNow] = useState(() => systemClock.now());
  useEffect(() => {
    if (!isRunning) return;
    setNow(systemClock.now());
    const timer = setInterval(() => setNow(systemClock.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return nowMs;
}

/** Shows a duration; of a running thing the duration so far. */
export function Took({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const nowMs = useNow(Boolean(from) && !to);
  if (!from) return <>{t.none}</>;
  const ms = (to ? Date.parse(to) : nowMs) - Date.parse(from);
  // A running duration is shown in whole seconds.
  return <span>{durationText(to ? ms : Math.floor(Math.max(0, ms) / 1000) * 1000)}</span>;
}

const SOON_MS = 10_000;

/** Shows a future instant and the remaining time. */
export function TimeLeft({ at }: { at: string }) {
  const leftMs = Date.parse(at) - useNow(true);
  const left = leftMs > SOON_MS ? t.in(durationText(Math.ceil(leftMs / 1000) * 1000)) : t.soon;
  return (
    <span>
      <Time at={at} /> · {leftMs > 0 ? left : t.due}
    </span>
  );
}
