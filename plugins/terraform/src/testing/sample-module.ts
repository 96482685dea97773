import { type TestNode, type TestNodeOptions, testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';

/** Two resources without a provider: a greeting, and a page whose file terraform writes and looks at. */
export const sampleModule = {
  variable: { who: { default: 'world' }, path: {}, token: { default: 'none' } },
  resource: {
    terraform_data: {
      greeting: { input: { text: 'hello $' + '{var.who}' } },
      page: {
        triggers_replace: '$' + '{fileexists(var.path) ? filesha256(var.path) : "missing"}',
        provisioner: [
          {
            'local-exec': {
              command: 'printf made > "$PAGE"; printf x >> "$PAGE.times"',
              environment: { PAGE: '$' + '{var.path}' },
            },
          },
        ],
      },
    },
  },
  output: {
    greeting: { value: '$' + '{terraform_data.greeting.output}' },
    token: { value: '$' + '{var.token}', sensitive: true },
  },
};

/** A node of the module, run by `binary`. `module`: other content of its file. */
export function sampleNode(
  binary: string,
  config: object,
  more: TestNodeOptions & { module?: object } = {},
): TestNode {
  const { module = sampleModule, files, ...options } = more;
  return testNode(plugin, 'cloudify.nodes.terraform.Module', {
    ...options,
    files: { 'module/main.tf.json': JSON.stringify(module), ...files },
    properties: { resource_config: { source: 'module', ...config }, binary } as never,
  });
}
