/** Texts of deployments and their parts. */
import { count, many } from './en-words';

export const deploymentsTexts = {
  deployments: {
    title: 'Deployments',
    searchHint: 'Search by id or name',
    count: (n: number) => many(n, 'deployment'),
    columns: {
      name: 'Deployment',
      blueprint: 'Blueprint',
      status: 'Status',
      latest: 'Latest execution',
      drift: 'Drift',
      parts: 'Parts',
      created: 'Created',
    },
    filters: {
      label: 'Filters',
      status: 'Status',
      installed: 'Installation',
      latest: 'Latest execution',
      blueprint: 'Blueprint',
      anyBlueprint: 'Any blueprint',
    },
    sort: 'Sort by',
    sorts: {
      '-created_at': 'Newest first',
      created_at: 'Oldest first',
      id: 'Id, A to Z',
      '-id': 'Id, Z to A',
      '-drifted_instances': 'Most drift first',
      deployment_status: 'Status',
      blueprint_id: 'Blueprint',
    } as Readonly<Record<string, string>>,
    noDrift: 'none',
    drifted: (n: number) => `${count.format(n)} drifted`,
    unavailable: (n: number) => `${count.format(n)} unavailable`,
    parts: (services: number, environments: number) =>
      [services > 0 && many(services, 'service'), environments > 0 && many(environments, 'environment')]
        .filter(Boolean)
        .join(', '),
    never: 'no execution yet',
    empty: 'No deployments in this tenant',
    emptyHint: 'Create one from a blueprint.',
    noMatch: 'No deployment matches',
    table: 'Deployments',
    select: (id: string) => `Select ${id}`,
    selected: (n: number) => `${many(n, 'deployment')} selected`,
    selectNone: 'Clear the selection',
    bulkStart: 'Run a workflow …',
    open: (id: string) => `Open ${id}`,
  },

  bulk: {
    title: 'Run a workflow on several deployments',
    frozen: 'Exactly these deployments are hit, whatever the list shows meanwhile:',
    andMore: (n: number) => `and ${count.format(n)} more`,
    workflow: 'Workflow',
    noCommon: 'These deployments have no workflow in common.',
    confirm: (n: number) => `Type ${n} to confirm`,
    start: (n: number) => `Start ${many(n, 'execution')}`,
    started: (n: number) => `${many(n, 'execution')} started`,
    refused: (n: number) => `${count.format(n)} refused`,
  },

  deployment: {
    quarantine: (source: string) =>
      `Imported from ${source || 'another manager'}, which may still drive this deployment. Nothing can be run here before it is activated:`,
    activation: 'command of the activation',
    tabs: {
      topology: 'Topology',
      nodes: 'Nodes',
      inputs: 'Inputs',
      outputs: 'Outputs',
      runs: 'Runs',
      events: 'Events',
      drift: 'Drift',
    },
    tabsLabel: 'Parts of the deployment',
    id: 'Id',
    blueprint: 'Blueprint',
    created: 'Created',
    createdBy: 'by',
    site: 'Site',
    installation: 'Installation',
    latest: 'Latest execution',
    visibility: 'Visibility',
    labels: 'Labels',
    description: 'Description',
    groups: 'Groups',
    runWorkflow: 'Run a workflow',
    delete: 'Delete',
    back: 'All deployments',
  },

  nodes: {
    title: 'Nodes',
    empty: 'This deployment has no nodes',
    emptyHint: 'Nodes appear when the deployment has been created.',
    node: 'Node',
    type: 'Type',
    instances: 'Instances',
    instance: 'Instance',
    state: 'State',
    host: 'Host',
    relationships: 'Relationships',
    runtime: 'Runtime properties',
    noRuntime: 'No runtime properties',
    inner: (n: number) => `${count.format(n)} more for the work of plugins`,
    drift: 'Drift',
    hasDrift: 'drifted',
    check: 'Status check',
    checkFailed: 'failed',
    notChecked: 'not yet',
    index: 'Number',
    none: 'No instances',
    tooMany: (shown: number, total: number) =>
      `${count.format(shown)} of ${count.format(total)} instances are shown.`,
  },

  inputs: {
    empty: 'This deployment has no inputs',
    name: 'Input',
    value: 'Value',
  },

  outputs: {
    outputs: 'Outputs',
    capabilities: 'Capabilities',
    noOutputs: 'This blueprint declares no outputs',
    noCapabilities: 'This blueprint declares no capabilities',
    name: 'Name',
    value: 'Value',
    notYet: 'Values appear when the deployment is installed.',
  },

  drift: {
    title: 'Drift',
    empty: 'No drift is known',
    emptyHint: 'The workflow check_drift compares instances with what the blueprint asks for.',
    ofNode: (node: string) => `of the node ${node}`,
    label: (instance: string, other: string | null) =>
      other === null ? `Drift of ${instance}` : `Drift of ${instance} and ${other}`,
    columns: { path: 'What', expected: 'Expected', found: 'Found' },
    relationships: {
      instance: (other: string) => other,
      source_of_relationship: (other: string) => `Its relationship to ${other}`,
      target_of_relationship: (other: string) => `The relationship that ${other} has to it`,
    },
    says: 'The check answered',
    checkFailed: 'The check itself failed, with this error:',
    checkedAt: 'Checked at',
  },

  topology: {
    graph: 'Graph',
    table: 'Table',
    view: 'Show as',
    empty: 'There are no nodes to draw',
    label: (nodes: number, edges: number) =>
      `Topology: ${many(nodes, 'node')}, ${many(edges, 'relationship')}`,
    instances: (n: number) => many(n, 'instance'),
    isCollapsed: (most: number) =>
      `Nodes of the same type are drawn as one, because there are more than ${count.format(most)}. The table lists them all.`,
    kinds: { contained_in: 'contained in', connected_to: 'connected to', depends_on: 'depends on' },
    node: 'Node',
    type: 'Type',
    states: 'Instances',
    edges: 'Relationships',
    drift: 'drift',
    legend: 'Relationships',
  },

  run: {
    title: (id: string) => `Run a workflow on ${id}`,
    workflow: 'Workflow',
    force: 'Run beside other executions of this deployment',
    queue: 'Wait in the queue when another execution runs',
    dryRun: 'Dry run: operations are not carried out',
    start: 'Start',
    unavailable: 'not available now',
  },

  delete: {
    title: (id: string) => `Delete ${id}`,
    impact: 'This would hit',
    nothing: 'Nothing else depends on this deployment.',
    dependents: (n: number) => `${many(n, 'deployment')} that depend on it`,
    schedules: (n: number) => many(n, 'schedule'),
    groups: (n: number) => many(n, 'deployment group'),
    running: (n: number) => many(n, 'running execution'),
    live: (n: number) => `${many(n, 'node instance')} that still run`,
    blockers: 'It cannot be deleted now',
    unknown:
      'What this would hit could not be found out. The manager refuses a deletion that would break others.',
    confirm: 'Type the id to confirm',
    submit: 'Delete the deployment',
  },

  events: {
    empty: 'No events of this deployment yet',
  },

  json: {
    items: (n: number) => many(n, 'item'),
    keys: (n: number) => many(n, 'key'),
    lines: (n: number) => many(n, 'line'),
    empty: 'empty',
  },
};
