import type { Command } from 'commander';
import { type Cli, command, option } from '../layer/define';
import { buildPlugin } from '../plugin-package/build-plugin';
import { initPlugin } from '../plugin-package/init-plugin';

/** Commands for authors of plugins in TypeScript. They ask no manager. */
export function pluginAuthoringCommands(cli: Cli, plugins: Command): void {
  command(cli, plugins, {
    name: 'init <folder>',
    about: 'write a new plugin in TypeScript; the name of the folder is its name',
    uses: [],
    examples: ['plugins init my-plugin'],
    run: ({ args: [path], out }) => {
      const made = initPlugin(path);
      out.done(
        `Plugin ${made.name} written to ${made.folder}. Next: npm install, npm test, baton plugins build.`,
        made,
      );
    },
  });
  command(cli, plugins, {
    name: 'build [folder]',
    about: 'build the package (.bplug) of a plugin in TypeScript',
    uses: [],
    options: [option('--out <file>', 'file to write; default: dist/<name>-<version>.bplug in the folder')],
    examples: ['plugins build', 'plugins build my-plugin --out my-plugin.bplug'],
    run: async ({ args: [folder = '.'], options, out }) => {
      const built = await buildPlugin(folder, options.out);
      out.done(
        `${built.file}: ${built.name} ${built.version}, ${built.bytes} bytes, sha256 ${built.sha256}`,
        built,
      );
    },
  });
}
