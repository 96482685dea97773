export { advance, advanceInPieces, isInGrace } from './advance';
export { type Availability, type AvailabilityRules, workflowAvailability } from './availability';
export { refreshedOperations } from './build/refresh-operations';
export { type CodeItem, codeGraph, compileItems, isSameWork, type WorkflowCode } from './code/compile';
export type { CompileError } from './code/operation-item';

export type { Decision, GraphEvent, GraphEventType, GraphFlags, GraphOutcome, TaskChange } from './decision';
export {
  agentOf,
  freshFlags,
  type GraphState,
  graphFromRows,
  graphFromSpec,
  graphFromSpecInPieces,
  isWorkflowCode,
  progressOf,
} from './graph';
export type { CodeDecision, Happening } from './happening';
export {
  type ExecutionEvent,
  type ExecutionStatus,
  executionMachine,
  type OperationEvent,
  type OperationState,
} from './machines';
export type {
  DeploymentModel,
  NodeInstance,
  PlanNode,
  PlanOperation,
  PlanPlugin,
  PlanRelationship,
  ScalingGroup,
  StartedModification,
} from './model';
export type { OperationPayload } from './operation';
export { type ResumeOptions, resumeGraph } from './resume';
export { rowOf, undoDecision } from './step';
export type { LifecycleSubject, OperationTemplate, RelationshipTemplate } from './subject';
export type {
  Deferral,
  ErrorCause,
  FailureHandler,
  GraphSpec,
  NodeEventPayload,
  OperationTask,
  SetStatePayload,
  SubgraphPayload,
  SuccessHandler,
  SystemPropertyEdit,
  TaskError,
  TaskPolicy,
  TaskRow,
  TaskSpec,
  TaskStatus,
  TaskType,
  WorkflowEventPayload,
} from './task';
export { limitAt } from './time-limit';
export type {
  CallRequest,
  Stage,
  StageLog,
  StageResult,
  UpdateChanges,
  WorkflowConfig,
  WorkflowInput,
} from './workflow';
export { builtinOf, endWithoutModel, isResumable, nextStage, nextStageInPieces } from './workflows/registry';
