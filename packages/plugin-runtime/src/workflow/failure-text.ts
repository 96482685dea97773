import { isFailed, type WorkTask } from './work';

const describe = (task: WorkTask): string =>
  `${task.name}${task.about && ` (${task.about})`}: ${task.error?.type ?? 'Error'} \`${task.error?.message ?? ''}\``;

/** Returns the failures of tasks in the words of a failed execution (reference/workflows.md 3.4). Null: no failure. */
export function failureText(tasks: readonly WorkTask[]): string | null {
  const failed = tasks.filter((task) => isFailed(task) && task.error?.type !== 'NotStarted');
  // A subgraph fails with a member; the member's error is more precise.
  const inner = failed.filter((task) => task.kind !== 'subgraph');
  const told = inner.length > 0 ? inner : failed;
  if (told.length === 0) return null;
  if (told.length === 1) return `Task failed: ${describe(told[0]!)}`;
  return [`${told.length} operation errors:`, ...told.map(describe)].join('\n');
}
