export { type LoginHost, readHostLogin } from './host-login';
export { type AgentScriptHost, makeAgentScript } from './make-script';
export { agentPlugin } from './plugin';
