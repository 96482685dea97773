import { useNavigate, useSearch } from '@tanstack/react-router';
import { TOPOLOGY_LOOKS, type TopologyLook } from './topology-parts';
import type { TopologySearch } from './topology-search';

/**
 * Reads the choice between graph and table from the address and writes it back. The route must read its parameters with
 * `readTopologySearch`.
 */
export function useTopologyView(): { view: TopologyLook; onView: (view: TopologyLook) => void } {
  const { view = TOPOLOGY_LOOKS[0] } = useSearch({ strict: false }) as TopologySearch;
  const navigate = useNavigate();
  const onView = (next: TopologyLook): void =>
    void navigate({
      to: '.',
      search: ((now: TopologySearch) => ({
        ...now,
        view: next === TOPOLOGY_LOOKS[0] ? undefined : next,
      })) as never,
      replace: true,
    });
  return { view, onView };
}
