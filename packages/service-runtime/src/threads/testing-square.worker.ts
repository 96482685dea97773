/** Worker of cpu-pool.test.ts. */
import { badParameter } from '@baton/kernel';
import { serveCpuTasks } from './cpu-worker';

serveCpuTasks(
  (task: { n: number } | { spin: true } | { grow: true } | { refuse: true } | { crash: true }) => {
    if ('n' in task) return task.n * task.n;
    if ('refuse' in task) throw badParameter('n', 'no');
    if ('crash' in task) throw new TypeError('bug');
    if ('spin' in task) for (;;);
    const hoard: number[][] = [];
    for (;;) hoard.push(new Array(10_000).fill(hoard.length));
  },
);
