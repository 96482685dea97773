import { useEffect } from 'react';

/** Requests the code of a component before its data arrive, so that both load in parallel. */
export function useEarlyCode(load: (() => Promise<unknown>) | undefined): void {
  useEffect(() => {
    // A failed load is reported by the component itself, which requests it again.
    load?.().catch(() => undefined);
  }, [load]);
}
