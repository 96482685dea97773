/** Edits a list of rules. All of them are stored at once. */
import { Fragment, type ReactNode } from 'react';
import { t } from '../text/text';
import { AddRow } from '../ui/add-row';
import { type ErrorOf, FormDialog } from '../ui/form-dialog';
import { useChecked } from '../ui/use-checked';

/** One rule with what its fields call. */
export interface RuleRow<Rule> {
  /** Its index. */
  at: number;
  rule: Rule;
  errorOf: ErrorOf;
  onChange: (rule: Rule) => void;
  onRemove: () => void;
}

interface RulesDialogProps<Rule> {
  title: string;
  hint: string;
  addText: string;
  rules: readonly Rule[];
  onChange: (rules: Rule[]) => void;
  newRule: Rule;
  /** Returns the errors of all rules, by field. */
  faultsOf: (rules: readonly Rule[]) => Record<string, string>;
  save: { isPending: boolean; error: unknown; mutate: () => void };
  onClose: () => void;
  /** Renders the fields of a rule. */
  children: (row: RuleRow<Rule>) => ReactNode;
}

export function RulesDialog<Rule>(props: RulesDialogProps<Rule>) {
  const { title, hint, addText, rules, onChange, newRule, faultsOf, save, onClose, children } = props;
  const checked = useChecked(
    () => faultsOf(rules),
    () => save.mutate(),
  );
  return (
    <FormDialog title={title} submit={t.resource.save} mutation={save} onClose={onClose} {...checked}>
      {(errorOf) => (
        <>
          <p>{hint}</p>
          {rules.map((rule, at) => (
            // Rules have no ids, so their index is the key.
            <Fragment key={at}>
              {children({
                at,
                rule,
                errorOf,
                onChange: (next) => onChange(rules.map((one, i) => (i === at ? next : one))),
                onRemove: () => onChange(rules.filter((_, i) => i !== at)),
              })}
            </Fragment>
          ))}
          <AddRow text={addText} onClick={() => onChange([...rules, newRule])} />
        </>
      )}
    </FormDialog>
  );
}
