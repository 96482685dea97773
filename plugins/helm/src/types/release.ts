import { nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { pullChart, pushChart } from '../chart/move-chart';
import { drift, poststart, read, start, uninstall, update, upgrade } from '../release/release-operations';
import { RELEASE_RUNTIME, type ReleaseScope } from '../release/release-scope';
import { clientConfig, flagsOf, helmConfig, RELEASE_CONFIG, setValues, sleepTime } from './schema';

const CHART = z
  .string()
  .default('')
  .describe('repo/name, an https or oci address, or a file or folder of the blueprint');
const MOVE = z.object({ chart: CHART, flags: flagsOf() });

/** A release of a chart in a cluster. */
export const release = nodeType({
  description: 'A release of a chart in a cluster',
  properties: z.object({
    helm_config: helmConfig,
    use_external_resource: z
      .boolean()
      .default(false)
      .describe('The release exists; it is neither changed nor removed'),
    client_config: clientConfig,
    resource_config: RELEASE_CONFIG,
    max_sleep_time: sleepTime(900),
  }),
  runtime: RELEASE_RUNTIME,
  inputs: {
    start: z.object({ flags: flagsOf(' for install alone') }),
    delete: z.object({ flags: flagsOf(' for uninstall alone') }),
  },
  mappings: {
    start: 'helm.cloudify_helm.tasks.install_release',
    poststart: 'helm.cloudify_helm.tasks.check_release_status',
    delete: 'helm.cloudify_helm.tasks.uninstall_release',
    check_drift: 'helm.cloudify_helm.tasks.check_release_drift',
    upgrade_release: 'helm.cloudify_helm.tasks.upgrade_release',
    pull_chart: 'helm.cloudify_helm.tasks.pull_chart',
    push: 'helm.cloudify_helm.tasks.push_chart',
  },
  start,
  poststart,
  update,
  delete: uninstall,
  read,
  drift,
  operations: {
    upgrade_release: {
      interface: 'helm',
      inputs: z.object({
        chart: CHART,
        flags: flagsOf(),
        set_values: setValues,
        values_file: z.string().default('').describe('File of the blueprint with values'),
      }),
      run: async (scope) => await upgrade(scope as ReleaseScope),
    },
    pull_chart: {
      interface: 'helm',
      inputs: MOVE,
      run: async (scope) => await pullChart(scope as ReleaseScope),
    },
    push: { interface: 'helm', inputs: MOVE, run: async (scope) => await pushChart(scope as ReleaseScope) },
  },
  resumable: ['start', 'poststart', 'update', 'delete', 'upgrade_release', 'pull_chart'],
});
