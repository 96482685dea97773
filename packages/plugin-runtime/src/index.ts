export { requireCases } from './context/letter-case';
export { type CtxHost, createCtxHost } from './ctx/ctx-host';
export type { AgentScript, EmitKind, OperationHost, PythonPlugin, SshLogin, TextCut } from './host';
export { type InvokeDeps, invoke } from './invoke';
export type { ModulePlugin } from './module/module-plugin';
export { createModuleProcesses, type ModuleProcesses } from './module/module-pool';
export {
  endOfKind,
  endOfThrown,
  type OperationEnd,
  type OperationFailure,
  type StopReason,
  stopReason,
} from './operation-end';
export {
  buildRegistry,
  buildWorkflowRegistry,
  type OperationRegistry,
  type WorkflowRegistry,
} from './registry';
export { installPlugin, type PluginInstallation } from './script/install-plugin';
export { type OrphanGuard, startOrphanGuard } from './script/orphan-guard';
export { defaultAssetsDir, ownDir, type ScriptSettings, sweepOwnDirs } from './script/settings';
export { createWarmPython, type WarmPython } from './script/warm-python';
export type { InstanceRecord, NodeRecord, OpenedModel, OperationTask, SideRecord } from './task';
export { invokeWorkflow } from './workflow/invoke-workflow';
export type { WorkPort, WorkSubmission, WorkTask } from './workflow/work';
