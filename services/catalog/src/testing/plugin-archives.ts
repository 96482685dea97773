/** Plugin uploads for tests: the plugin x-plugin in any version. */
import { tgzOf, zipOf } from './archives';

function packageJson(version: string) {
  return {
    package_name: 'x-plugin',
    package_version: version,
    archive_name: `x_plugin-${version}-py311-none-linux_x86_64.wgn`,
    wheels: ['x.whl'],
    supported_platform: 'linux_x86_64',
    package_source: `x-plugin==${version}`,
    supported_python_versions: ['py311'],
    build_server_os_properties: {
      distribution: 'debian',
      distribution_version: '12',
      distribution_release: 'bookworm',
    },
  };
}
export const wagon = (version: string) =>
  tgzOf([
    { name: 'x-plugin/package.json', content: JSON.stringify(packageJson(version)) },
    { name: 'x-plugin/wheels/x.whl', content: 'wheel' },
  ]);
export const yaml = (version: string, more = '') =>
  `plugins:\n  x:\n    executor: central_deployment_agent\n    package_name: x-plugin\n    package_version: "${version}"\n${more}node_types:\n  x.Node: {properties: {from: {default: "${version}"}}}\n`;
export const bundle = async (
  version: string,
  files: Record<string, string> = { 'plugin.yaml': yaml(version) },
) =>
  zipOf([
    ...Object.entries(files).map(([name, content]) => ({ name, content })),
    { name: 'x.wgn', content: await wagon(version) },
  ]);
