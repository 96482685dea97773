export type { Broker, ConsumeOptions, ParkedMessage, Subscription } from './port';
export { createPostgresBroker, type PostgresBrokerOptions } from './postgres/postgres-broker';
export { createRabbitBroker, type RabbitBrokerOptions } from './rabbit/rabbit-broker';
export { createBrokerRelay, type RelayRules } from './relay/broker-relay';
export type { BrokerChannel } from './relay/relay-protocol';
export { createRelayedBroker } from './relay/relayed-broker';
export { MAX_DELIVERIES, retryStepsMs, type Topology, type TopologyEntry, topology } from './topology';
