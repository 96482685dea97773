export { createAdmission, type RpcGuard } from './admission';
export { createGrpcConnector, type GrpcConnectorOptions } from './connector';
export {
  type CallOptions,
  DEFAULT_DEADLINE_MS,
  type DeepPartial,
  type ObservedCall,
  type RpcClient,
  type RpcConnector,
  type RpcHandlers,
  type ServedCall,
  type ServiceDefinition,
} from './definition';
export { currentLease, type HeldProof, withLease } from './lease-scope';
export { createLocalRpc, type LocalRpc } from './local';
export { processChannel } from './process-channel';
export { createRelayedRpc, createRpcRelay, type RpcChannel, type RpcRelay } from './relay';
export { createRpcServer, type RpcServer, type RpcServerOptions } from './server';
export { assertNotInTransaction } from './tx-guard';
export { createUserLookup } from './user-lookup';
