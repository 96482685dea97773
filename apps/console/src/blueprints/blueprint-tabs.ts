export const BLUEPRINT_TABS = ['overview', 'source', 'topology', 'uses'] as const;
export type BlueprintTab = (typeof BLUEPRINT_TABS)[number];
