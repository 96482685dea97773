export {
  type AgentLink,
  type AgentLinkOptions,
  createAgentLink,
  type LinkTimes,
  type Notice,
  tryLink,
  type Welcome,
} from './link';
export { type Credentials, type ManagerPlace, openTls, placeOf } from './open-tls';
export { type ProxySettings, proxyOfEnvironment } from './proxy';
export { type Answered, requestOf } from './request';
