/** Plugin uploads for tests: the plugin x-plugin in any version. */
import { type TestEntry, tgzOf, zipOf } from './archives';

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

/** Entries of a TypeScript plugin, by name; `changes` replaces some of them, undefined leaves one out. */
export const moduleEntries = (
  manifest: Record<string, unknown> = {},
  changes: Record<string, string | undefined> = {},
): TestEntry[] => {
  const about = { format: 1, name: 'dns', version: '1.2.0', sdk: '0.2.0', main: 'index.js', ...manifest };
  const files: Record<string, string | undefined> = {
    'LICENSES.txt': 'dns 1.2.0 MIT\n',
    'index.js': "module.exports = { name: 'dns', version: '1.2.0', operations: {} };\n",
    'plugin.json': JSON.stringify({ types: ['dns.nodes.Record'], description: 'records', ...about }),
    'plugin.yaml': moduleYaml(String(about.name), String(about.version)),
    ...changes,
  };
  return Object.entries(files).flatMap(([name, content]) =>
    content === undefined ? [] : [{ name, content }],
  );
};

export const moduleYaml = (name: string, version: string): string =>
  `plugins:\n  ${name}:\n    executor: central_deployment_agent\n    package_name: ${name}\n    package_version: "${version}"\nnode_types:\n  dns.nodes.Record: {properties: {from: {default: "${version}"}}}\n`;
