/** Amount of data in a seeded manager. */
export interface SeedSizes {
  blueprints: number;
  deployments: number;
  eventsPerExecution: number;
}

export const INSTANCES_PER_DEPLOYMENT = 10;
export const SITES = 20;
/** Number of label values: `env` has 10 values, `team` 100, `serial` one for each deployment. */
export const ENVIRONMENTS = 10;
export const TEAMS = 100;
export const TENANT = 'default_tenant';

export const fullSizes: SeedSizes = { blueprints: 1_000, deployments: 100_000, eventsPerExecution: 50 };
export const smallSizes: SeedSizes = { blueprints: 50, deployments: 5_000, eventsPerExecution: 50 };

/** Ids of seeded objects; their prototypes are called `proto`. */
export const PROTOTYPE = 'proto';
export const deploymentIdOf = (n: number): string => `d${String(n).padStart(6, '0')}`;

/** Returns the creation time of a deployment: spread evenly over a year. `n`: an SQL expression that counts from 1. */
export const createdAt = (n: string, sizes: SeedSizes): string =>
  `(date_trunc('day', now()) - interval '1 year' + (${n}) * interval '1 second' * ${Math.floor((360 * 86_400) / sizes.deployments)})`;
/** Events of an execution follow each other by a second; the first one follows its deployment by a second. */
export const EVENT_STEP = `interval '1 second'`;
