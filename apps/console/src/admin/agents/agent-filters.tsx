import { useCallback } from 'react';
import { choicesOf } from '../../search-params';
import { t } from '../../text/text';
import { BarSelect, type Choices } from '../../ui/field';
import { SearchBox } from '../../ui/search-box';
import { useAddress } from '../../ui/use-address';
import { AGENT_METHODS, AGENT_STATES, type AgentSearch } from './agent-search';

/** Filters of the list of agents, kept in the address. */
export function AgentFilters() {
  const { search, change } = useAddress<AgentSearch>();
  const names = t.agents.filters;
  const setDeployment = useCallback(
    (deployment_id: string) => change({ deployment_id: deployment_id || undefined }),
    [change],
  );
  return (
    <>
      <SearchBox label={names.deployment} value={search.deployment_id ?? ''} onChange={setDeployment} />
      <BarSelect
        label={names.connection}
        value={search.is_connected?.[0] ?? ''}
        options={[any(names.connection), ['true', names.connected], ['false', names.away]]}
        onChange={(value) => change({ is_connected: choicesOf(value, ['true', 'false']) })}
      />
      <BarSelect
        label={names.state}
        value={search.state?.[0] ?? ''}
        options={[any(names.state), ...AGENT_STATES.map((one) => [one, t.agents.states[one]] as const)]}
        onChange={(value) => change({ state: choicesOf(value, AGENT_STATES) })}
      />
      <BarSelect
        label={names.method}
        value={search.install_method?.[0] ?? ''}
        options={[
          any(names.method),
          ...AGENT_METHODS.map((one) => [one, t.agents.methods[one] ?? one] as const),
        ]}
        onChange={(value) => change({ install_method: choicesOf(value, AGENT_METHODS) })}
      />
    </>
  );
}

const any = (name: string): Choices[number] => ['', `${name}: ${t.all}`];
