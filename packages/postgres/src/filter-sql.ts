import type { FilterRule } from '@baton/contracts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** The columns and labels of a resource that filter rules compare. */
export interface FilterTarget {
  /** Attribute key of a rule -> expression that is compared as text; a relation gives one of its values or NULL. */
  attributes: Readonly<Record<string, RawBuilder<unknown>>>;
  /** Table of the labels with columns `key` and `value`, under the alias `l`: sql`blueprint_labels l`. */
  labels: RawBuilder<unknown>;
  /** Joins `l` to the row: sql`l.blueprint_id = b.id`. */
  labelOwner: RawBuilder<SqlBool>;
}

/** Returns the conditions of checked filter rules (reference/rest-api.md 4.3); all of them must hold. */
export function filterConditions(rules: readonly FilterRule[], target: FilterTarget): RawBuilder<SqlBool>[] {
  return rules.map((rule) =>
    rule.type === 'label' ? labelCondition(rule, target) : attributeCondition(rule, target),
  );
}

function labelCondition(rule: FilterRule & { type: 'label' }, target: FilterTarget): RawBuilder<SqlBool> {
  const some = (of: RawBuilder<SqlBool>) =>
    sql<SqlBool>`exists (select 1 from ${target.labels} where ${target.labelOwner} and l.key = ${rule.key} and ${of})`;
  const listed = sql<SqlBool>`l.value = any(${rule.values}::text[])`;
  switch (rule.operator) {
    case 'any_of':
      return some(listed);
    case 'not_any_of':
      return some(sql<SqlBool>`l.value <> all(${rule.values}::text[])`);
    case 'is_not':
      return sql<SqlBool>`not ${some(listed)}`;
    case 'is_null':
      return sql<SqlBool>`not ${some(sql<SqlBool>`true`)}`;
    case 'is_not_null':
      return some(sql<SqlBool>`true`);
  }
}

const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

function attributeCondition(
  rule: FilterRule & { type: 'attribute' },
  target: FilterTarget,
): RawBuilder<SqlBool> {
  const found = target.attributes[rule.key];
  if (found === undefined) throw new Error(`no expression for the attribute ${rule.key}`);
  const text = sql`(${found})::text`;
  switch (rule.operator) {
    case 'any_of':
      return sql<SqlBool>`${text} = any(${rule.values}::text[])`;
    case 'not_any_of':
      return sql<SqlBool>`${text} <> all(${rule.values}::text[])`;
    case 'contains':
      return one(rule.values, (value) => sql<SqlBool>`position(${value} in ${text}) > 0`);
    case 'not_contains':
      return sql<SqlBool>`not ${one(rule.values, (value) => sql<SqlBool>`position(${value} in ${text}) > 0`, false)}`;
    case 'starts_with':
      return one(rule.values, (value) => sql<SqlBool>`${text} ilike ${`${literal(value)}%`}`);
    case 'ends_with':
      return one(rule.values, (value) => sql<SqlBool>`${text} ilike ${`%${literal(value)}`}`);
    case 'is_not_empty':
      return sql<SqlBool>`${found} is not null`;
  }
}

/** Condition that one of the values fits; without values it is `whenNone`. */
function one(
  values: readonly string[],
  of: (value: string) => RawBuilder<SqlBool>,
  whenNone = true,
): RawBuilder<SqlBool> {
  if (values.length === 0) return whenNone ? sql<SqlBool>`true` : sql<SqlBool>`false`;
  return sql<SqlBool>`(${sql.join(values.map(of), sql` or `)})`;
}
