export { type ParseOptions, type ParseOutcome, parseBlueprint, type ParseRequest } from './parse';
export { type Diagnostic, formatDiagnostic, formatDiagnostics } from './diagnostics/diagnostic';
export { type DiagnosticKind, diagnosticKinds, type KindEntry } from './diagnostics/kinds';
export { emptyResolver, type FoundPlugin, type FoundText, type ImportResolver } from './imports/resolver';
export { parseResolverRules, type ResolverRules, withRules } from './imports/rules';
export { choosePluginYaml, parsePluginSpec, type PluginCandidate, type PluginSpec, selectPlugin } from './imports/plugin-spec';
export { comparePythonVersions, matchesSpecifiers } from './imports/python-version';
export { createTextCache, type TextCache } from './imports/text-cache';
export { parseVersion, supportedVersions } from './elements/version';
export type {
  DeploymentPlan, InstanceRelationship, InterDeploymentFunction, NodeInstance, ParsedPlan, PlanGroup, PlanNode, PlanPlugin,
  PlanPolicy, PlanRelationship, PlanScalingGroup, PlanVersion, PlanWorkflow, ScalingProperties,
} from './plan/plan';
