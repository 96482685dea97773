import type { OperationId } from '@baton/client';

const byBrowser = 'It belongs to the session of a browser; the command line has a token or a password.';
const byConsole = 'It keeps what a person has arranged in the console.';
const byAgent = 'Operations that install an agent call it; the agent is what it says of itself.';
const byUpdate = 'The workflow of a deployment update calls it; elsewhere it is refused.';
const byEngine = 'A workflow that runs outside of the manager calls it to keep its graph here.';
const byRestore = 'A restore calls it to write what an archive holds.';
const deprecated = 'It is deprecated: set-visibility does the same.';
const otherSpelling = 'It is another spelling of an operation that a command uses, for older clients.';
const byProxy = 'A web proxy in front of a file server calls it.';
const fileServer = 'It is the path of the file server of the original for the same files as `baton files`.';
const severalFiles = 'It writes several files of a form; `baton files put` writes one at a time.';

/** Operations of the API without a command, each with the reason. A test refuses a reason that is not needed any more. */
export const uncovered: Partial<Record<OperationId, string>> = {
  openSession: byBrowser,
  getSession: byBrowser,
  closeSession: byBrowser,
  getDeviceLogin: byBrowser,
  approveDeviceLogin: byBrowser,
  denyDeviceLogin: byBrowser,
  getPreferences: byConsole,
  setPreferences: byConsole,
  listViews: byConsole,
  putView: byConsole,
  deleteView: byConsole,
  createAgent: byAgent,
  updateAgent: byAgent,
  createNodes: byUpdate,
  updateNode: byUpdate,
  deleteNode: byUpdate,
  createNodeInstances: byUpdate,
  deleteNodeInstance: byUpdate,
  createTasksGraph: byEngine,
  updateTasksGraph: byEngine,
  createOperation: byEngine,
  updateOperation: byEngine,
  updateStoredOperations: byEngine,
  deleteOperation: byEngine,
  createEvents: 'Operations and workflows write their own events and log lines.',
  patchExecution:
    'A workflow that runs outside of the manager reports its status; people cancel, kill or resume.',
  patchSnapshot: byRestore,
  injectAudit: byRestore,
  setBlueprintGlobal: deprecated,
  setPluginGlobal: deprecated,
  setSecretGlobal: deprecated,
  initiateDeploymentUpdateByPost: otherSpelling,
  initiatePluginsUpdateByPost: otherSpelling,
  deleteExecutionsSchedule: otherSpelling,
  finalizeDeploymentUpdate: 'An update ends by itself; the operation only reads it, for older clients.',
  refuseMaintenanceAction: 'It refuses every name that is no action of maintenance mode.',
  setLdap: 'The manager takes no users from a directory this way: it always answers 405.',
  beginOidcLogin: 'It leads a browser to the page of the identity provider.',
  endOidcLogin: 'The identity provider sends the browser back to it.',
  fireTrigger: 'The system that holds the secret of the trigger signs this request.',
  getFileServerAuth: byProxy,
  checkMonitoringAccess: byProxy,
  getUploadedBlueprint: '`baton blueprints download` gets the same archive by its id.',
  postTenantFiles: severalFiles,
  postGlobalFiles: severalFiles,
  postDeploymentFiles: severalFiles,
  proxiedGetBlueprintResource: fileServer,
  proxiedGetDeploymentFile: fileServer,
  proxiedPutDeploymentFile: fileServer,
  proxiedPostDeploymentFiles: fileServer,
  proxiedDeleteDeploymentFile: fileServer,
  proxiedGetGlobalFile: fileServer,
  proxiedPutGlobalFile: fileServer,
  proxiedPostGlobalFiles: fileServer,
  proxiedDeleteGlobalFile: fileServer,
  proxiedGetPluginResource: fileServer,
  proxiedGetTenantFile: fileServer,
  proxiedPutTenantFile: fileServer,
  proxiedPostTenantFiles: fileServer,
  proxiedDeleteTenantFile: fileServer,
  proxiedGetUploadedBlueprint: fileServer,
};
