/** The parts of the worker that the agent of a host is made of (apps/agent): the same code claims, runs and reports there. */
export { createCatalogClient } from './adapters/catalog.client';
export { createDeploymentsClient } from './adapters/deployments.client';
export { createExecutionsClient, type ExecutionsClient } from './adapters/executions.client';
export { createSafeFetch } from './adapters/safe-fetch';
export type { HeldTask } from './claim/held-task';
export { startLeases } from './claim/leases';
export { createModulePlugins } from './code/module-plugins';
export { createPythonPlugins } from './code/python-plugins';
export { createBlueprintFiles } from './files/blueprint-files';
export { createFileCache } from './files/file-cache';
export { createFolderIndex } from './files/folder-index';
export { createOperationFolders } from './files/operation-folder';
export type { LogShipper } from './report/logs';
export type { TaskRecords } from './report/records';
export { isSeenByScripts } from './run/passed-variables';
export { createWorker, type Worker } from './worker';
