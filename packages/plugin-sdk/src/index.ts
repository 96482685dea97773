export type {
  ConflictResolver,
  ContextType,
  InstanceContext,
  NodeContext,
  OperationContext,
  OperationLogger,
  PluginOperation,
  RelationshipContext,
  SideContext,
} from './context';
export {
  type DeferralOptions,
  type ErrorCause,
  FatalError,
  isMarkedError,
  type MarkedError,
  OperationDeferred,
  type OperationErrorKind,
  OperationRetry,
  operationErrorMark,
  RetryableError,
} from './errors';
export { definePlugin, type Plugin } from './plugin';
export { isResumable, resumable } from './resumable';
export {
  CancelledError,
  type FailureDecision,
  type OperationOptions,
  type PluginWorkflow,
  type TaskPlace,
  type WorkflowContext,
  WorkflowFailedError,
  type WorkflowFunction,
  type WorkflowGraph,
  type WorkflowInstance,
  type WorkflowNode,
  type WorkflowTask,
  type WorkOptions,
} from './workflow';
