export type { Broker, ConsumeOptions, ParkedMessage, Subscription } from './port';
export { type Topology, type TopologyEntry, topology } from './topology';
