/** The parsing thread: parses blueprints and other untrusted YAML. */
import { derivePluginYaml13, readYamlJson } from '@baton/dsl';
import { serveCpuTasks } from '@baton/service-runtime/cpu-worker';
import { parseTask } from './parse/parse-task';
import type { ThreadTask } from './parse/protocol';

serveCpuTasks<ThreadTask, unknown>((task) => {
  switch (task.kind) {
    case 'blueprint':
      return parseTask(task.task);
    case 'yaml':
      return task.texts.map(readYamlJson);
    case 'pluginYaml13':
      return derivePluginYaml13(task.text);
  }
});
