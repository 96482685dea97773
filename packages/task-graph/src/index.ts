export { advance, MAX_LOSSES } from './advance';
export { type Availability, type AvailabilityRules, workflowAvailability } from './availability';
export { type Decision, type GraphEvent, type GraphEventType, type GraphFlags, type GraphOutcome, type TaskChange } from './decision';
export { freshFlags, graphFromRows, graphFromSpec, type GraphState } from './graph';
export { type Happening } from './happening';
export {
  type ExecutionEvent,
  executionMachine,
  type ExecutionStatus,
  type OperationEvent,
  operationMachine,
  type OperationState,
} from './machines';
export {
  type DeploymentModel,
  type NodeInstance,
  type PlanNode,
  type PlanOperation,
  type PlanPlugin,
  type PlanRelationship,
  type ScalingGroup,
  type StartedModification,
} from './model';
export { resumeGraph, type ResumeOptions } from './resume';
export { rowOf, undoDecision } from './step';
export { type LifecycleSubject, type OperationTemplate, type RelationshipTemplate } from './subject';
export {
  type ErrorCause,
  type FailureHandler,
  type GraphSpec,
  type NodeEventPayload,
  type OperationPayload,
  type OperationTask,
  type SetStatePayload,
  type SubgraphPayload,
  type SuccessHandler,
  type SystemPropertyEdit,
  type TaskError,
  type TaskKind,
  type TaskPolicy,
  type TaskRow,
  type TaskSpec,
  type TaskStatus,
  type TaskType,
  type WorkflowEventPayload,
} from './task';
export {
  type CallRequest,
  type Stage,
  type StageLog,
  type StageResult,
  type UpdateChanges,
  type WorkflowConfig,
  type WorkflowInput,
} from './workflow';
export { builtinOf, isResumable, nextStage } from './workflows/registry';
