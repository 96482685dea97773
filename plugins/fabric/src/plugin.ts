import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { runCommands } from './commands/run-commands';
import { pythonTask } from './python-task';
import { runScript } from './script/run-script';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['fabric'],
  types: {},
  operations: {
    'fabric_plugin.tasks.run_commands': runCommands,
    'fabric_plugin.tasks.run_script': runScript,
    'fabric_plugin.tasks.run_task': pythonTask,
    'fabric_plugin.tasks.run_module_task': pythonTask,
  },
});
