import { afterDelay } from '@baton/kernel';
import { useIsFetching } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

const QUIET_MS = 1_000;

/** Returns true once no request has run for a moment. Less important requests wait for this. */
export function useQuiet(): boolean {
  const running = useIsFetching();
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    if (isQuiet || running > 0) return;
    return afterDelay(QUIET_MS, () => setQuiet(true));
  }, [running, isQuiet]);
  return isQuiet;
}
