export type { RpcGuard } from './admission';
export { createGrpcConnector, type GrpcConnector, type GrpcConnectorOptions } from './connector';
export type {
  CallOptions,
  DeepPartial,
  MethodDefinition,
  ObservedCall,
  RpcClient,
  RpcConnector,
  RpcHandlers,
  ServedCall,
  ServiceDefinition,
} from './definition';
export { type HeldProof, leaseProof, withLease } from './lease-scope';
export { createLocalRpc, type LocalRpc } from './local';
export { createGuardedPassage, type PassedCall, type RpcPassage } from './passage';
export { processChannel } from './process-channel';
export { createRelayedRpc, createRpcRelay, type RpcChannel, type RpcRelay } from './relay';
export { createRpcServer, type RpcServer, type RpcServerOptions } from './server';

export { createUserLookup } from './user-lookup';
