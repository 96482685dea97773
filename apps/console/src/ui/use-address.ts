import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

export interface Address<Search> {
  search: Search;
  /** Replaces some parameters; `undefined` removes a parameter. */
  change: (next: Partial<Search>) => void;
  clear: () => void;
}

/** The parameters of the address, which hold all choices of the user on a screen. */
export function useAddress<Search extends object>(): Address<Search> {
  const all: unknown = useSearch({ strict: false });
  const search = all as Search;
  const navigate = useNavigate();
  const change = useCallback(
    (next: Partial<Search>): void =>
      void navigate({ to: '.', search: ((now: Search) => ({ ...now, ...next })) as never, replace: true }),
    [navigate],
  );
  const clear = useCallback((): void => void navigate({ to: '.', search: {} as never }), [navigate]);
  return { search, change, clear };
}
