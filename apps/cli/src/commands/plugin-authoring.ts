import type { Command } from 'commander';
import { type Cli, command, option, type Run } from '../layer/define';
import { buildPlugin } from '../plugin-package/build-plugin';
import { documentFolder } from '../plugin-package/document-plugin';
import { initPlugin } from '../plugin-package/init-plugin';
import { type FindPublished, publishedAt, publishedInFile } from '../plugin-package/published';
import { makeKey } from '../plugin-package/sign-package';

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
  keygenCommand(cli, plugins);
  command(cli, plugins, {
    name: 'build [folder]',
    about: 'build the package (.bplug) of a plugin in TypeScript',
    uses: ['listPlugins', 'getPluginYaml'],
    options: [
      option('--out <file>', 'file to write; default: dist/<name>-<version>.bplug in the folder'),
      option('--sign <file>', 'private key that signs the package'),
      option(
        '--against <file>',
        'published package whose schema must be the same in the same version; default: the manager, when you are logged in; none: nothing',
      ),
    ],
    examples: [
      'plugins build',
      'plugins build my-plugin --out my-plugin.bplug',
      'plugins build --sign team.key',
    ],
    run: async (run) => {
      const { args, options, out } = run;
      const [folder = '.'] = args;
      const built = await buildPlugin(folder, {
        out: options.out,
        sign: options.sign,
        published: comparison(run),
      });
      const signed = built.signed_by === null ? '' : `, signed by ${built.signed_by}`;
      out.done(
        `${built.file}: ${built.name} ${built.version}, ${built.bytes} bytes, sha256 ${built.sha256}${signed}`,
        built,
      );
    },
  });
  docsCommand(cli, plugins);
}

function docsCommand(cli: Cli, plugins: Command): void {
  command(cli, plugins, {
    name: 'docs [folder]',
    about: 'write a page (Markdown) and a JSON Schema about a plugin in TypeScript, from its definition',
    uses: [],
    options: [option('--out <folder>', 'folder to write; default: dist in the folder of the plugin')],
    examples: ['plugins docs', 'plugins docs my-plugin --out docs'],
    run: async ({ args: [folder = '.'], options, out }) => {
      const written = await documentFolder(folder, options.out);
      out.done(`${written.page} and ${written.schema} are written.`, written);
    },
  });
}

/** A manager that does not answer prevents no build: it compares at the upload. */
function comparison({
  options: { against },
  client,
  session,
  out,
}: Run<'listPlugins' | 'getPluginYaml'>): FindPublished | undefined {
  if (against === 'none') return undefined;
  if (against !== undefined) return publishedInFile(against);
  if (!session.isLoggedIn) return undefined;
  const ask = publishedAt(client, session.url);
  return async (name, version) => {
    try {
      return await ask(name, version);
    } catch (error) {
      out.say(`Not compared with the manager at ${session.url}: ${(error as Error).message}`);
      return null;
    }
  };
}

function keygenCommand(cli: Cli, plugins: Command): void {
  command(cli, plugins, {
    name: 'keygen <file>',
    about: 'make a key that signs packages: the private one in the file, the public one beside it (.pub)',
    uses: [],
    examples: ['plugins keygen team.key'],
    run: ({ args: [path], out }) => {
      const made = makeKey(path);
      out.done(
        `${made.key_file}: private key, keep it secret. ${made.public_key_file}: public key ${made.fingerprint}; ` +
          'trust it with `baton plugin-keys add NAME FILE`.',
        made,
      );
    },
  });
}
