/** The parsing thread. */
import { serveCpuTasks } from '@baton/service-runtime/cpu-worker';
import { parseTask } from './parse-task';

serveCpuTasks(parseTask);
