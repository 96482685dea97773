export {
  type ArchiveFiles,
  type ArchiveTask,
  type Fetched,
  type Need,
  readNeed,
} from './archive/needs';
export { type ParsedArchive, parseArchive } from './archive/parse-archive';
export { type BuiltinVersion, builtinTypes, withBuiltinTypes } from './builtin/builtin';
export { type Completion, type Completions, completeBlueprint } from './complete/complete';
export type { BlueprintOutline, OutlineNode } from './complete/outline';
export type {
  ConstrainedValue,
  ValueContext,
  ValueGetter,
} from './constraints/check-value';
export { type Diagnostic, formatDiagnostic, formatDiagnostics } from './diagnostics/diagnostic';
export type { DiagnosticKind, KindEntry } from './diagnostics/kinds';
export { parseVersion } from './elements/version';
export { type GroupDeployment, groupCapability } from './functions/lookup-functions';
export {
  type FunctionCall,
  type FunctionName,
  isFunction,
} from './functions/registry';
export {
  type Evaluated,
  type EvaluateOptions,
  evaluateFunctions,
  evaluateNodeProperties,
  evaluateOutputs,
} from './functions/runtime';
export type { FunctionContext, FunctionStorage, StoredInstance, StoredNode } from './functions/storage';
export { derivePluginYaml13 } from './imports/plugin-compat';
export {
  choosePluginYaml,
  type PluginCandidate,
  type PluginSpec,
  parsePluginSpec,
  pluginLabels,
  pluginMisfit,
  selectPlugin,
} from './imports/plugin-spec';
export { comparePythonVersions, matchesSpecifiers } from './imports/python-version';
export {
  emptyResolver,
  type FoundPlugin,
  type FoundText,
  type ImportResolver,
  type Unreadable,
} from './imports/resolver';
export { parseResolverRules, type ResolverRules, withRules } from './imports/rules';
export { createTextCache, type TextCache } from './imports/text-cache';
export { type Expanded, expandInstances } from './instances/expand';
export type { Random } from './instances/ids';
export {
  type ChangedInstance,
  type Modification,
  type Modified,
  type ModifyRequest,
  modifyInstances,
} from './instances/modify';
export { type ParseOptions, type ParseOutcome, type ParseRequest, parseBlueprint } from './parse';
export type {
  DeploymentPlan,
  InstanceRelationship,
  InterDeploymentFunction,
  NodeInstance,
  ParsedPlan,
  PlanGroup,
  PlanNode,
  PlanPlugin,
  PlanPolicy,
  PlanRelationship,
  PlanScalingGroup,
  PlanVersion,
  PlanWorkflow,
} from './plan/plan';
export { type InputOptions, resolveInputs } from './prepare/inputs';
export { type PrepareOptions, type PrepareOutcome, prepareDeploymentPlan } from './prepare/prepare';
export { readYamlJson, type YamlFault } from './read-yaml-json';
export { type UpdateStep, updateSteps } from './update/steps';
export { type Availability, workflowAvailability } from './workflows/availability';
export {
  type CheckedParameters,
  checkWorkflowParameters,
  type ParameterOptions,
} from './workflows/parameters';
