import type { FilterRule } from '@baton/contracts';
import type { ExecutionsPort } from '../adapters/executions.client';

type Source = Pick<ExecutionsPort, 'scheduled'>;
const asksForSchedules = (rule: FilterRule) => rule.type === 'attribute' && rule.key === 'schedules';

/**
 * Converts rules for SQL: schedules belong to the service executions, so a rule on schedules becomes the names (`tenant/id`) of the
 * deployments that have some now. `tenant` null: of every tenant.
 */
export async function answerScheduleRules(
  executions: Source,
  tenant: string | null,
  rules: FilterRule[],
): Promise<FilterRule[]> {
  if (!rules.some(asksForSchedules)) return rules;
  return namingScheduled(rules, await executions.scheduled(tenant));
}

/** Does the same conversion with names that were read before. */
export function namingScheduled(rules: FilterRule[], names: string[]): FilterRule[] {
  return rules.map((rule) =>
    asksForSchedules(rule)
      ? { key: 'schedules', type: 'attribute', operator: 'any_of', values: names }
      : rule,
  );
}
