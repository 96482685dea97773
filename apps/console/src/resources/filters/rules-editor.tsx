import { Plus } from 'lucide-react';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import type { ErrorOf } from '../../ui/form-dialog';
import { AreaField, SelectField, TextField } from '../../ui/inputs';
import { RulePart } from '../../ui/rule-part';
import {
  ATTRIBUTES,
  changeRule,
  type FilterKind,
  NEW_RULE,
  operatorsFor,
  type RuleEntry,
  type RuleType,
  takesValues,
} from './filter-rules';
import styles from './rules-editor.module.css';

interface RulesEditorProps {
  kind: FilterKind;
  rules: readonly RuleEntry[];
  onChange: (rules: RuleEntry[]) => void;
  errorOf: ErrorOf;
}

/** Rules in a column; all of them must match. */
export function RulesEditor({ kind, rules, onChange, errorOf }: RulesEditorProps) {
  return (
    <>
      {rules.map((rule, at) => (
        <RuleFields
          // Rules have no ids, so their index is the key.
          // Fields hold no state of their own.
          key={at}
          kind={kind}
          name={t.filters.rule(at + 1)}
          rule={rule}
          error={errorOf(`filter_rules[${at}]`)}
          onChange={(change) =>
            onChange(rules.map((one, i) => (i === at ? changeRule(one, change, kind) : one)))
          }
          onRemove={rules.length > 1 ? () => onChange(rules.filter((_, i) => i !== at)) : null}
        />
      ))}
      <Button onClick={() => onChange([...rules, NEW_RULE])}>
        <Plus size={16} aria-hidden="true" /> {t.filters.addRule}
      </Button>
    </>
  );
}

function RuleFields({
  kind,
  name,
  rule,
  error,
  onChange,
  onRemove,
}: {
  kind: FilterKind;
  name: string;
  rule: RuleEntry;
  error: string | null;
  onChange: (change: Partial<RuleEntry>) => void;
  onRemove: (() => void) | null;
}) {
  const operators = operatorsFor(rule).map((one) => [one, t.filters.operators[one] ?? one] as const);
  const types = Object.entries(t.filters.types) as [RuleType, string][];
  return (
    <RulePart name={name} removeText={t.filters.removeRule(name)} onRemove={onRemove}>
      <div className={styles.parts}>
        <SelectField
          label={t.filters.type}
          value={rule.type}
          options={types}
          onChange={(type) => onChange({ type })}
        />
        {rule.type === 'attribute' ? (
          <SelectField
            label={t.filters.attribute}
            value={rule.key}
            options={ATTRIBUTES[kind].map((one) => [one, one] as const)}
            onChange={(key) => onChange({ key })}
          />
        ) : (
          <TextField label={t.filters.key} value={rule.key} onChange={(key) => onChange({ key })} />
        )}
        <SelectField
          label={t.filters.operator}
          value={rule.operator}
          options={operators}
          onChange={(operator) => onChange({ operator })}
        />
      </div>
      {takesValues(rule.operator) && (
        <AreaField
          label={t.filters.values}
          hint={t.filters.valuesHint}
          rows={2}
          value={rule.values}
          onChange={(values) => onChange({ values })}
          error={error}
        />
      )}
      {error && !takesValues(rule.operator) && <p className={styles.fault}>{error}</p>}
    </RulePart>
  );
}
