export {
  AGENT_LINK_PROTOCOL,
  AGENT_SERVER_NAME,
  type AgentFrame,
  agentFrame,
  agentMethods,
  agentPaths,
  type GatewayFrame,
  gatewayFrame,
} from './agent-link';
export {
  type AgentAbout,
  type AgentSettings,
  addressOfWorker,
  agentAbout,
  agentAddress,
  agentSettings,
  agentWorkerId,
} from './agents';
export {
  type OperationAssignment,
  type OperationError,
  operationAssignment,
  operationError,
  type TaskEvent,
  taskEvent,
} from './assignment';
export { type AuditScope, auditScopeKey } from './audit-scope';
export {
  type AttributeOperator,
  attributeOperators,
  type FilterRule,
  filterRuleError,
  type LabelOperator,
  labelOperators,
  mergeFilterRules,
  parseFilterRules,
  type RuleAttributes,
  type RuleFault,
  ruleAttributes,
} from './filter-rules';
export { type FoldableChange, foldedChange } from './folded-change';
export * as catalogRpc from './gen/catalog/v1/catalog';
export * as clusterStatusRpc from './gen/cluster_status/v1/cluster_status';
export * as agentsRpc from './gen/deployments/v1/agents';
export * as deploymentsRpc from './gen/deployments/v1/deployments';
export * as doctorRpc from './gen/doctor/v1/doctor';
export * as executionsRpc from './gen/executions/v1/executions';
export * as workersRpc from './gen/executions/v1/workers';
export * as identityRpc from './gen/identity/v1/identity';
export * as importsRpc from './gen/imports/v1/imports';
export * as callStreamRpc from './gen/rpc/v1/call_stream';
export * as secretsRpc from './gen/secrets/v1/secrets';
export * as snapshotsRpc from './gen/snapshots/v1/snapshots';
export * as tenantsRpc from './gen/tenants/v1/tenants';
export { IMPORTED_FROM_LABEL, QUARANTINE_LABEL } from './import-labels';
export { type ImportOptions, importOptions } from './import-options';
export {
  checkLabel,
  type LabelFault,
  type LabelPair,
  labelError,
  normalizeLabelKey,
  parseLabels,
  parseLabelsText,
  reservedLabelKeys,
} from './labels';
export { buildMessage, defineMessage, type Envelope, type MessageType } from './message';
export { type ChangeMade, changeMade } from './messages/audit';
export { blueprintDeleted, blueprintRegistered, uploadEnded } from './messages/catalog';
export { configChanged, maintenanceChanged, webhookInterestChanged } from './messages/cluster-status';
export {
  agentRevoked,
  deploymentCreated,
  deploymentDeleted,
  deploymentDriftChanged,
  deploymentUpdated,
  groupDeploymentsCreated,
} from './messages/deployments';
export {
  agentTaskReady,
  eventsAppended,
  executionAccepted,
  executionFinished,
  executionRequested,
  executionStatusChanged,
  firstTaskReady,
  taskReady,
  tasksCancelled,
} from './messages/executions';
export { credentialsChanged, quotaChanged } from './messages/identity';
export {
  catalogResourcesChanged,
  deploymentResourcesChanged,
  executionResourcesChanged,
} from './messages/resources';
export { changedOwnership, type FindUser, type Ownership, ownershipOf, rememberingUsers } from './ownership';
export type { PluginSelection } from './plugin-selection';
export {
  forService,
  hasPermission,
  isAdministrator,
  type Principal,
  type ServicePermission,
} from './principal';
export { quarantined } from './quarantine';
export {
  type ChangeKind,
  changeKinds,
  isShownTo,
  MAX_CHANGES,
  mayListKind,
  type ResourceChange,
  type ResourceChanges,
} from './resource-changes';
export { parseResourceUri, type ResourceUri } from './resource-uri';
export {
  type ApiVersion,
  defineRoutes,
  type ExtraParameter,
  type ListContract,
  type ListPage,
  type ListQuery,
  listQuery,
  type ManagerService,
  managerServices,
  type RouteContract,
  type ServiceName,
} from './route';
export {
  type LeaseField,
  type RpcCaller,
  type RpcRule,
  reflectionCallers,
  rpcRules,
  type WorkerRule,
} from './rpc-callers';
export { parseConstraints, type SearchConstraints } from './search-constraints';
export { endedSessionCookie, sessionCookie, sessionCookieName } from './session-cookie';
export {
  leastWorkerWeight,
  mostWorkerWeight,
  type QuotaName,
  quotaReached,
  type Reached,
  requestsKey,
  type TenantLimits,
  unlimited,
} from './tenant-limits';
export { type TenantScope, tenantScopeKey } from './tenant-scope';
export { isWider, requireOwnTenant, type Visibility, visibilityOfNew, widensVisibility } from './visibility';
export {
  EVERY_EVENT,
  type SentEventType,
  type WebhookEventType,
  webhookEvents,
  webhookFilterFields,
} from './webhook-events';
export { nodesOfModel } from './workflow-model';
export { type SubmittedWork, submittedWork, type WorkChange, workChange } from './workflow-work';
