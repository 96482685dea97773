export type { Broker, ConsumeOptions, ParkedMessage, Subscription } from './port';
export { createPostgresBroker, type PostgresBrokerOptions } from './postgres/postgres-broker';
export { type RabbitLogin, rabbitDefinitions } from './rabbit/definitions';
export { type RabbitNames, rabbitNames } from './rabbit/names';
export { type RabbitPermissions, rabbitPermissions } from './rabbit/permissions';
export { createRabbitBroker, type RabbitBrokerOptions } from './rabbit/rabbit-broker';
export { createRelayedBroker } from './relay/child';
export { type RelayAccess, relayBroker } from './relay/parent';
export {
  MAX_DELIVERIES,
  publishersOf,
  serviceOfQueue,
  type Topology,
  type TopologyEntry,
  topology,
} from './topology';
