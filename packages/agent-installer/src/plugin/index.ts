export { agentPlugin } from './plugin';
export type { AgentPluginDeps } from './scope';
