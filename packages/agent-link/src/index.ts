export {
  type AgentLink,
  type AgentLinkOptions,
  createAgentLink,
  type LinkTimes,
  type Notice,
  type Welcome,
} from './link';
export type { Credentials } from './open-tls';
export { type ProxySettings, proxyOfEnvironment } from './proxy';
export { type Asked, requestOf } from './request';
