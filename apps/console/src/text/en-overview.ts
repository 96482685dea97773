/** Texts of the overview. */
import { count } from './en-words';

export const overviewTexts = {
  overview: {
    title: 'Overview',
    deployments: 'Deployments',
    executions: 'Executions',
    allDeployments: 'All deployments',
    allExecutions: 'All executions',
    nothingYet: 'Nothing has been deployed in this tenant yet.',
    failures: 'Newest failures',
    noFailures: 'No execution has failed.',
    allFailures: 'All failed executions',
    manager: 'the manager itself',
    stuck: 'Executions that do not move',
    noStuck: 'Everything that runs moves.',
    since: 'since',
    drifted: 'Deployments with drift',
    noDrifted: 'No deployment is known to have drifted.',
    driftedInstances: (n: number) => `${count.format(n)} drifted`,
    unavailableInstances: (n: number) => `${count.format(n)} unavailable`,
    allDrifted: 'Most drift first',
    schedules: 'Next schedules',
    allSchedules: 'All schedules',
    noSchedules: 'No schedule is set.',
    health: 'The manager',
    healthAll: 'Services, nodes and workers',
    groups: { manager: 'Services', broker: 'Message broker', db: 'Database' } as Readonly<
      Record<string, string>
    >,
    maintenance: {
      activating: 'Maintenance mode is about to begin: no new execution starts.',
      activated: 'Maintenance mode is on: executions wait, and most requests are refused.',
    } as Readonly<Record<string, string>>,
    maintenanceLink: 'Maintenance',
  },
};
