export type { Broker, ConsumeOptions, ParkedMessage, Subscription } from './port';
export { createPostgresBroker, type PostgresBrokerOptions } from './postgres/postgres-broker';
export { type RabbitNames, rabbitNames } from './rabbit/names';
export { createRabbitBroker, type RabbitBrokerOptions } from './rabbit/rabbit-broker';
export { createRelayedBroker } from './relay/child';
export { type RelayAccess, relayBroker } from './relay/parent';
export { MAX_DELIVERIES, retryStepsMs, type Topology, type TopologyEntry, topology } from './topology';
