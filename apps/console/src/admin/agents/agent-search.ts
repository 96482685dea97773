/** Search parameters of the list of agents. Part of the shell's bundle, so this file stays small. */
import { choicesOf, textOf } from '../../search-params';

export const AGENT_STATES = [
  'started',
  'nonresponsive',
  'failed',
  'creating',
  'created',
  'starting',
  'upgrading',
  'restored',
  'stopping',
  'stopped',
  'deleting',
] as const;
export const AGENT_METHODS = ['remote', 'init_script', 'plugin', 'provided'] as const;
const FLAGS = ['true', 'false'] as const;

export interface AgentSearch {
  _search?: string;
  state?: (typeof AGENT_STATES)[number][];
  is_connected?: (typeof FLAGS)[number][];
  install_method?: (typeof AGENT_METHODS)[number][];
  deployment_id?: string;
}

export const readAgentSearch = (search: Record<string, unknown>): AgentSearch => ({
  _search: textOf(search._search),
  state: choicesOf(search.state, AGENT_STATES),
  is_connected: choicesOf(search.is_connected, FLAGS),
  install_method: choicesOf(search.install_method, AGENT_METHODS),
  deployment_id: textOf(search.deployment_id),
});
