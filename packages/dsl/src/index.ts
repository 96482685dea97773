export { type ParseOptions, type ParseOutcome, parseBlueprint, type ParseRequest } from './parse';
export { readYamlJson, type YamlFault } from './read-yaml-json';
export { type Diagnostic, formatDiagnostic, formatDiagnostics } from './diagnostics/diagnostic';
export { type DiagnosticKind, diagnosticKinds, type KindEntry } from './diagnostics/kinds';
export { emptyResolver, type FoundPlugin, type FoundText, type ImportResolver } from './imports/resolver';
export { parseResolverRules, type ResolverRules, withRules } from './imports/rules';
export { choosePluginYaml, parsePluginSpec, type PluginCandidate, type PluginSpec, selectPlugin } from './imports/plugin-spec';
export { derivePluginYaml13 } from './imports/plugin-compat';
export { comparePythonVersions, matchesSpecifiers } from './imports/python-version';
export { createTextCache, type TextCache } from './imports/text-cache';
export { parseVersion, supportedVersions } from './elements/version';
export type {
  DeploymentPlan, InstanceRelationship, InterDeploymentFunction, NodeInstance, ParsedPlan, PlanGroup, PlanNode, PlanPlugin,
  PlanPolicy, PlanRelationship, PlanScalingGroup, PlanVersion, PlanWorkflow, ScalingProperties,
} from './plan/plan';
export { type PrepareOptions, type PrepareOutcome, prepareDeploymentPlan } from './prepare/prepare';
export { type InputOptions, resolveInputs } from './prepare/inputs';
export { type ConstrainedValue, type ValueContext, type ValueGetter, checkValue } from './constraints/check-value';
export { type Expanded, expandInstances } from './instances/expand';
export { type ChangedInstance, type Modification, type Modified, modifyInstances, type ModifyRequest } from './instances/modify';
export type { Random } from './instances/ids';
export { type Evaluated, evaluateFunctions, evaluateNodeProperties, type EvaluateOptions, evaluateOutputs } from './functions/runtime';
export type { FunctionContext, FunctionStorage, StoredInstance, StoredNode } from './functions/storage';
export { type GroupDeployment, groupCapability } from './functions/lookup-functions';
export { asFunction, type FunctionCall, type FunctionName, functionStages, isFunction } from './functions/registry';
export { type BuiltinVersion, builtinTypes, builtinTypesAt, withBuiltinTypes } from './builtin/builtin';
export { type UpdateStep, updateSteps } from './update/steps';
export { type CheckedParameters, checkWorkflowParameters, type ParameterOptions } from './workflows/parameters';
export { type Availability, workflowAvailability } from './workflows/availability';
