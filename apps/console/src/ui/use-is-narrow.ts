import { useSyncExternalStore } from 'react';

const query = window.matchMedia('(width < 760px)');

const subscribe = (listener: () => void): (() => void) => {
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** Whether the screen is as narrow as a phone's, also because of zoom. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
