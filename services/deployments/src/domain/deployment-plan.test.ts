import { requiredPlugins } from './deployment-plan';

const plugin = (package_name: string, more: Record<string, unknown> = {}) => ({
  name: package_name,
  package_name,
  package_version: '1.0',
  install: true,
  ...more,
});

const namesOf = (plan: Parameters<typeof requiredPlugins>[0]) =>
  requiredPlugins(plan).map((one) => one.packageName);

it('asks for the plugins of all three lists that are to be installed, each once', () => {
  const plan = {
    deployment_plugins_to_install: [plugin('cloudify-aws-plugin'), plugin('unused', { install: false })],
    workflow_plugins_to_install: [plugin('cloudify-aws-plugin'), plugin('workflows')],
    host_agent_plugins_to_install: [plugin('on-hosts'), plugin('from-a-url', { source: 'http://x/y.zip' })],
  };
  expect(namesOf(plan)).toEqual(['cloudify-aws-plugin', 'workflows', 'on-hosts']);
  expect(namesOf({})).toEqual([]);
});

it('never asks for the diamond plugin, in whichever list and version', () => {
  const diamond = plugin('cloudify-diamond-plugin');
  for (const list of [
    'deployment_plugins_to_install',
    'workflow_plugins_to_install',
    'host_agent_plugins_to_install',
  ])
    expect(namesOf({ [list]: [diamond, { ...diamond, package_version: null }, plugin('other')] })).toEqual([
      'other',
    ]);
});
