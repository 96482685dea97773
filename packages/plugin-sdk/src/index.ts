export type {
  AgentContext,
  ConflictResolver,
  ContextType,
  InstanceContext,
  NodeContext,
  OperationContext,
  OperationLogger,
  PluginOperation,
  RelationshipContext,
  RemoteCtx,
  RemoteFiles,
  SideContext,
} from './context';
export type { PluginDefinition } from './define/definition';
export {
  type DirectNode,
  type DirectOperation,
  type DirectScope,
  directOperation,
} from './define/direct-operation';
export {
  type AnyNodeType,
  type Difference,
  type LifecycleInputs,
  type LifecycleOperation,
  type NodeTypeSpec,
  type NoValues,
  nodeType,
  type Present,
  type Work,
} from './define/node-type';
export type {
  OfSides,
  RelationshipOperation,
  RelationshipType,
  SideOperations,
} from './define/relationship-type';
export type {
  BaseScope,
  NodeScope,
  RelationshipScope,
  StepScope,
  UpdateScope,
} from './define/scope';
export {
  type DeclaredWorkflow,
  type WorkflowScope,
  type WorkflowSpec,
  workflow,
} from './define/workflow-type';
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
export type { StoredFile } from './files/file-store';
export type { HeldLock, InstanceFiles } from './files/instance-files';
export { LockedError } from './files/locked-error';
export { type DeclaredPlugin, definePlugin, type Plugin, type RawPlugin } from './plugin';
export { isResumable, resumable } from './resumable';
export { STEPS_PROPERTY, storedStep } from './run/steps';
export { defaultFrom } from './schema/default-from';
export { DefinitionError } from './schema/definition-error';
export type { Constraint, Described, DslType, ObjectSchema } from './schema/describe';
export { sensitive } from './schema/sensitive';
export type { OperationClock } from './tools/clock';
export { type Exec, type ExecOptions, type ExecResult, type ExitMeaning, exec } from './tools/exec';
export { http } from './tools/http';
export type { Http, HttpAnswer, HttpOptions } from './tools/http-options';
export type { Received, Send, Sending } from './tools/http-send';
export type { TlsOptions } from './tools/http-tls';
export { requireDownloads } from './tools/require-downloads';
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
