/** The parsing thread: blueprints, and other YAML of foreign origin. */
import { readYamlJson } from '@baton/dsl';
import { serveCpuTasks } from '@baton/service-runtime/cpu-worker';
import { parseTask } from './parse/parse-task';
import type { ThreadTask } from './parse/protocol';

serveCpuTasks<ThreadTask, unknown>((task) =>
  task.kind === 'blueprint' ? parseTask(task.task) : task.texts.map(readYamlJson),
);
