export const DEPLOYMENT_TABS = ['topology', 'nodes', 'inputs', 'outputs', 'runs', 'events', 'drift'] as const;
export type DeploymentTab = (typeof DEPLOYMENT_TABS)[number];
