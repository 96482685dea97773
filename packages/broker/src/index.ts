export type { Broker, ConsumeOptions, ParkedMessage, Subscription } from './port';
export { createPostgresBroker, type PostgresBrokerOptions } from './postgres/postgres-broker';
export { createRabbitBroker, type RabbitBrokerOptions } from './rabbit/rabbit-broker';
export {
  type BrokerChannel,
  createBrokerRelay,
  createRelayedBroker,
  type RelayRules,
} from './relay/broker-relay';
export { MAX_DELIVERIES, retryStepsMs, type Topology, type TopologyEntry, topology } from './topology';
