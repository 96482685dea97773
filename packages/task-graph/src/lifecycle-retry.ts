import { lifecycleRerun } from './build/rerun';
import type { TaskNode } from './graph';
import { replace, takeOutsideDependents } from './run';
import { appendTask, type Step } from './step';
import type { FailureHandler } from './task';

/**
 * Runs an instance's lifecycle again in place of its failed subgraph (reference workflows.md 2.6). The new tasks come
 * at the end of the graph and take over all dependents of the old subgraph.
 */
export function rerunLifecycle(
  step: Step,
  failed: TaskNode,
  handler: Extract<FailureHandler, { handler: 'lifecycle-retry' }>,
): void {
  const { graph } = step;
  const specs = lifecycleRerun(handler, failed.spec, graph.nodes.length);
  const { key } = failed.spec;
  const added = specs.map((spec, i) =>
    appendTask(step, i === 0 && key !== undefined ? { ...spec, key } : spec, 0),
  );
  const top = added[0]!;
  top.retries = failed.retries + 1;
  for (const node of added) {
    const parent = node.spec.subgraph === null ? null : graph.nodes[node.spec.subgraph]!;
    if (parent) {
      parent.members.push(node.spec.idx);
      parent.openMembers++;
      node.blockers++;
    }
    for (const dep of node.spec.deps) {
      node.blockers++;
      graph.nodes[dep]!.dependents = [...graph.nodes[dep]!.dependents, node.spec.idx];
    }
  }
  replace(step, failed, top);
  // Outside tasks that waited for one task inside the old subgraph now wait for the whole new subgraph.
  top.dependents = [...top.dependents, ...takeOutsideDependents(step, failed)];
  step.ready.push(top.spec.idx);
}
